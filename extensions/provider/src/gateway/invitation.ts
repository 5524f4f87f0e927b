// The route /invitation: a mailed link shows who invites the reader, and a button accepts.

import { createFormPage } from '@partner-loyalty/gateway/pages/formpage.ts';
import type { Core } from '@partner-loyalty/gateway/ports.ts';
import { fill } from '@partner-loyalty/runtime/fill.ts';
import { isolated } from '@partner-loyalty/runtime/input.ts';
import { linkPage, messagePage } from '@partner-loyalty/runtime/pages/cards.ts';
import { textsOf } from '@partner-loyalty/runtime/pages/language.ts';
import { pageResponse, textPage } from '@partner-loyalty/runtime/pages/layout.ts';
import { isInvitation, type Tokens } from './tokens.ts';

const INVITATION_PATH = '/invitation';

type Parts = Pick<Core, 'forms' | 'log'> & { tokens: Tokens };

/**
 * Handles `/invitation`; never rejects. Opening a link does not accept, because mail scanners open
 * links too.
 */
export function createInvitation({ tokens, ...parts }: Parts) {
  return createFormPage({
    ...parts,
    async show(request, token) {
      const { language, ...texts } = textsOf(request);
      if (!isInvitation(token)) return messagePage(404, { language, ...texts }, 'invalidLink');
      const { title, text, button } = texts.invitation;
      return tokens.redeem('invitation', token, request, ({ partnerName, email }) => {
        const partner = isolated(partnerName);
        const link = {
          title: fill(title, { partner }),
          text: fill(text, { partner, email }),
          button,
        };
        return pageResponse(200, linkPage(link, token, INVITATION_PATH, language));
      });
    },
    async submit(request, form, sent) {
      const token = form.get('token') ?? '';
      const { invitation, language } = textsOf(request);
      const { accepted, acceptedText } = invitation;
      if (!isInvitation(token)) return tokens.refuse(request);
      return tokens.redeem(
        'acceptInvitation',
        token,
        request,
        ({ partnerName, email }) => {
          const text = fill(acceptedText, { partner: isolated(partnerName), email });
          return pageResponse(200, textPage(accepted, text, language));
        },
        sent?.formId,
      );
    },
  });
}
