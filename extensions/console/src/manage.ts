// Asks subgraphs, for staff, to show and change what is their partner's, and to mail staff.

import { type Ask, exchange } from '@partner-loyalty/gateway/graph/exchange.ts';
import type { ServedGraphs } from '@partner-loyalty/gateway/graph/served.ts';
import type { Core } from '@partner-loyalty/gateway/ports.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { AppAction, AppAnswer, AppInput } from '@partner-loyalty/runtime/manage/apps.ts';
import type {
  WebhookAction,
  WebhookAnswer,
  WebhookInput,
} from '@partner-loyalty/runtime/manage/webhooks.ts';
import type {
  StaffNotice,
  StaffSignIn,
  StaffSignInAnswer,
} from '@partner-loyalty/runtime/signin/staff.ts';
import type { ConsoleVisit } from './section.ts';

/** What the console is built from. */
export type ConsoleParts = Core & {
  members: StaffMail;
  /** The base address of the service. */
  ownUrl: string;
};

export type Manage = ReturnType<typeof createManage>;

// These fields are on no surface: only the service uses them.
const WEBHOOKS = `mutation ($request: String!, $isLocal: Boolean!) {
  answer: manageWebhooks(request: $request, isLocal: $isLocal)
}`;
const APPS = 'mutation ($request: String!) { answer: manageApps(request: $request) }';
const STAFF_SIGN_IN = 'mutation ($request: String!) { answer: staffSignIn(request: $request) }';
const MAIL_STAFF = 'mutation ($notice: String!) { mailStaff(notice: $notice) }';

type Graphs = Pick<ServedGraphs, 'askFeed' | 'askProvider'>;

/**
 * `isLocal` says whether only this machine can reach the gateway. Both functions reject with an
 * ApiError if the subgraph is unavailable, and never send a request again.
 */
export function createManage({ askFeed, askProvider }: Graphs, isLocal: boolean) {
  return {
    webhooks<Action extends WebhookAction>(
      visit: ConsoleVisit,
      action: Action,
      input: WebhookInput<Action>,
    ): Promise<WebhookAnswer<Action>> {
      const request = requestOf(visit, action, input);
      return exchange(askFeed, WEBHOOKS, { request, isLocal }, visit.requestId);
    },
    apps<Action extends AppAction>(
      visit: ConsoleVisit,
      action: Action,
      input: AppInput<Action>,
    ): Promise<AppAnswer<Action>> {
      const request = requestOf(visit, action, input);
      return exchange(askProvider, APPS, { request }, visit.requestId);
    },
  };
}

export type StaffMail = ReturnType<typeof createStaffMail>;

/** What the members subgraph does for staff. Both reject with an ApiError if it is unavailable. */
export function createStaffMail(ask: Ask) {
  return {
    /** Does a step of a sign-in, once. */
    staffSignIn: (request: StaffSignIn, requestId: string): Promise<StaffSignInAnswer> =>
      exchange(ask, STAFF_SIGN_IN, { request: JSON.stringify(request) }, requestId),
    /** Resolves once the mail is sure to be sent. The same notice may be sent again. */
    async mailStaff(notice: StaffNotice): Promise<void> {
      const { data } = await ask({
        query: MAIL_STAFF,
        variables: { notice: JSON.stringify(notice) },
        caller: { kind: 'service' },
        requestId: 'staff-notices',
      });
      if (data?.mailStaff !== true) fail('SERVICE_UNAVAILABLE');
    },
  };
}

/** Whatever a form says, the partner is that of the visitor. */
function requestOf({ staff }: ConsoleVisit, action: string, input: object): string {
  return JSON.stringify({ ...input, action, partnerId: staff.partnerId });
}
