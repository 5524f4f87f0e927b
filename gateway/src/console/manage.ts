// Asks subgraphs, for a partner's staff, to show and change what belongs to the partner there.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { AppAction, AppAnswer, AppInput } from '@partner-loyalty/runtime/manage/apps.ts';
import type {
  WebhookAction,
  WebhookAnswer,
  WebhookInput,
} from '@partner-loyalty/runtime/manage/webhooks.ts';
import type { ServedGraphs } from '../graph/served.ts';
import type { ConsoleVisit } from './section.ts';

export type Manage = ReturnType<typeof createManage>;

// These fields are on no surface: they are for the service alone.
const WEBHOOKS = `mutation ($request: String!, $isLocal: Boolean!) {
  answer: manageWebhooks(request: $request, isLocal: $isLocal)
}`;
const APPS = 'mutation ($request: String!) { answer: manageApps(request: $request) }';

type Graphs = Pick<ServedGraphs, 'askFeed' | 'askProvider'>;

/**
 * `isLocal` says whether this machine alone can reach the gateway. Both functions reject with an
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
      return ask(askFeed, visit, WEBHOOKS, { request, isLocal });
    },
    apps<Action extends AppAction>(
      visit: ConsoleVisit,
      action: Action,
      input: AppInput<Action>,
    ): Promise<AppAnswer<Action>> {
      return ask(askProvider, visit, APPS, { request: requestOf(visit, action, input) });
    },
  };
}

/** Whatever a form says, the partner is that of the visitor. */
function requestOf({ staff }: ConsoleVisit, action: string, input: object): string {
  return JSON.stringify({ ...input, action, partnerId: staff.partnerId });
}

async function ask<Answer>(
  execute: Graphs['askFeed'],
  { requestId }: ConsoleVisit,
  query: string,
  variables: Record<string, unknown>,
): Promise<Answer> {
  const caller = { kind: 'service' } as const;
  const { data, errors } = await execute({ query, variables, caller, requestId });
  if (typeof data?.answer === 'string') return JSON.parse(data.answer);
  const code = errors?.[0]?.extensions.code;
  return fail(code === 'SERVICE_UNAVAILABLE' ? code : 'INTERNAL_SERVER_ERROR');
}
