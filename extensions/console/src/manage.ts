// Asks subgraphs, for a partner's staff, to show and change what belongs to the partner there.

import type { ServedGraphs } from '@partner-loyalty/gateway/graph/served.ts';
import { exchange } from '@partner-loyalty/gateway/sign-in/membersclient.ts';
import type { AppAction, AppAnswer, AppInput } from '@partner-loyalty/runtime/manage/apps.ts';
import type {
  WebhookAction,
  WebhookAnswer,
  WebhookInput,
} from '@partner-loyalty/runtime/manage/webhooks.ts';
import type { ConsoleVisit } from './section.ts';

export type Manage = ReturnType<typeof createManage>;

// These fields are on no surface: only the service uses them.
const WEBHOOKS = `mutation ($request: String!, $isLocal: Boolean!) {
  answer: manageWebhooks(request: $request, isLocal: $isLocal)
}`;
const APPS = 'mutation ($request: String!) { answer: manageApps(request: $request) }';

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

/** Whatever a form says, the partner is that of the visitor. */
function requestOf({ staff }: ConsoleVisit, action: string, input: object): string {
  return JSON.stringify({ ...input, action, partnerId: staff.partnerId });
}
