// The route /invitation: a mailed link shows who invites the reader, and a button accepts.
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { pageResponse, textPage } from '../pages/layout.ts';
import { INVALID_LINK, linkPage } from './cards.ts';
import { createFormPage } from './form.ts';
import { isInvitation } from './links.ts';
import type { Tokens } from './tokens.ts';

export const INVITATION_PATH = '/invitation';

export type InvitationParts = { tokens: Tokens; log: Log };

/**
 * Handles `/invitation`; never rejects. Opening a link does not accept, because mail scanners open
 * links too.
 */
export function createInvitation({
  tokens,
  log,
}: InvitationParts): (request: HttpRequest) => Promise<HttpResponse> {
  return createFormPage({
    log,
    async show(request, token) {
      if (!isInvitation(token)) return pageResponse(404, INVALID_LINK);
      const outcome = await tokens.redeem('invitation', token, request);
      if ('page' in outcome) return outcome.page;
      const { partnerName, email } = outcome.value;
      const page = {
        title: `${partnerName} invites you`,
        text:
          `${partnerName} would like to enroll ${email}. If you agree, ${partnerName} can see ` +
          'your name, your address, and your standing there.',
        button: 'Agree',
      };
      return pageResponse(200, linkPage(page, token, INVITATION_PATH));
    },
    async submit(request, form) {
      const token = form.get('token') ?? '';
      if (!isInvitation(token)) return tokens.refuse(request);
      const outcome = await tokens.redeem('acceptInvitation', token, request);
      if ('page' in outcome) return outcome.page;
      const { partnerName, email } = outcome.value;
      const text = `${email} is now enrolled with ${partnerName}.`;
      return pageResponse(200, textPage('You are enrolled', text));
    },
  });
}
