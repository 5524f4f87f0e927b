// The route /invitation: a mailed link shows who invites the reader, and a button accepts.

import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Limiter } from '../budget/limiter.ts';
import { pageResponse, textPage } from '../pages/layout.ts';
import { INVALID_LINK, linkPage } from './cards.ts';
import { createFormPage } from './form.ts';
import { isInvitation } from './links.ts';
import type { MembersClient } from './membersclient.ts';
import { refuseLink } from './redeem.ts';

export const INVITATION_PATH = '/invitation';

export type InvitationParts = {
  members: Pick<MembersClient, 'redeem'>;
  limiter: Pick<Limiter, 'consumeRefusal'>;
  log: Log;
};

/**
 * Handles `/invitation`; never rejects. Opening a link does not accept, because mail scanners open
 * links too.
 */
export function createInvitation({
  members,
  limiter,
  log,
}: InvitationParts): (request: HttpRequest) => Promise<HttpResponse> {
  return createFormPage({
    log,
    async show(request, token) {
      if (!isInvitation(token)) return pageResponse(404, INVALID_LINK);
      const outcome = await members.redeem('invitation', token, request.requestId);
      if ('refused' in outcome) return refuseLink(limiter, request);
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
      if (!isInvitation(token)) return refuseLink(limiter, request);
      const outcome = await members.redeem('acceptInvitation', token, request.requestId);
      if ('refused' in outcome) return refuseLink(limiter, request);
      const { partnerName, email } = outcome.value;
      const text = `${email} is now enrolled with ${partnerName}.`;
      return pageResponse(200, textPage('You are enrolled', text));
    },
  });
}
