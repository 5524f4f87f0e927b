// What operators and partners' staff ask for about webhooks, and the answers as plain data.
import { randomUUID } from 'node:crypto';
import type {
  WebhookAction,
  WebhookAnswer,
  WebhookDelivery,
  WebhookRefusal,
  WebhookRequest,
} from '@partner-loyalty/runtime/manage/webhooks.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';
import type { EventType } from '@partner-loyalty/standings/rules/event.ts';
import type { StandingsStore } from '@partner-loyalty/standings/store/store.ts';
import { addOutcomes, type Endpoint } from '@partner-loyalty/standings/store/webhooks.ts';
import { contentOf } from './delivery.ts';
import { endpointsIn } from './endpoints.ts';
import { payloadOf, type Send } from './send.ts';
import { createWebhookSecrets, rulesFor, urlFault } from './target.ts';
import { deliveryOf, messagesOf, summaryOf, TYPES, viewOf } from './view.ts';

type Store = Pick<StandingsStore, 'webhooks' | 'feed'>;
type Options = {
  /** Undefined if this process sends nothing. */
  send: Send | undefined;
  /** How long an answer may wait for the outcome of a test. */
  testMs: number;
};
/** Who asks: the partner's staff, or else an operator. */
type By = Pick<Endpoint, 'byStaff'>;
type Handle<Action extends WebhookAction> = (
  request: WebhookRequest<Action>,
  by: By,
) => Promise<WebhookAnswer<Action>>;

const UNKNOWN: WebhookRefusal = { refused: 'unknown' };
const NO_KEY: WebhookRefusal = { refused: 'noKey' };
/** How much is shown of what waits. */
const MAX_WAITING = 100;
/** For each partner, in a process. */
const TESTS_PER_MINUTE = 10;
const MINUTE_MS = 60_000;

/** Manages the endpoints in a store. */
export function createWebhookManager(
  store: Store,
  settings: Pick<Settings, 'environment' | 'keyEncryptionKey' | 'webhookPrivate' | 'host'>,
  { send, testMs }: Options,
) {
  const secrets = createWebhookSecrets(settings);
  const endpoints = endpointsIn(store, secrets);
  const tests = new Map<string, Promise<WebhookDelivery>>();
  /** When the latest tests of each partner began. */
  const begun = new Map<string, number[]>();
  const closing = new AbortController();

  function mayTest(partnerId: string): boolean {
    const since = performance.now() - MINUTE_MS;
    const recent = (begun.get(partnerId) ?? []).filter((at) => at > since);
    if (recent.length >= TESTS_PER_MINUTE) return false;
    begun.set(partnerId, [...recent, performance.now()]);
    return true;
  }

  /** Applies the rules for whoever gives the URL. */
  function refusalOf(url: string, by: By): WebhookRefusal | undefined {
    const fault = urlFault(url, rulesFor(by, settings));
    return fault === undefined ? undefined : { refused: 'url', fault };
  }

  /** Handles an action on an endpoint of the partner that is named. */
  function on<Action extends WebhookAction>(
    handle: (
      endpoint: Endpoint,
      ...given: Parameters<Handle<Action>>
    ) => ReturnType<Handle<Action>>,
  ) {
    return async (request: WebhookRequest<Action> & { webhookId: string }, by: By) => {
      const endpoint = await endpointOf(store, request);
      return endpoint === undefined ? UNKNOWN : handle(endpoint, request, by);
    };
  }

  /** Tries a message that waits now, or sends it again. False if its event is not kept any more. */
  async function resend(endpoint: Endpoint, eventId: string): Promise<boolean> {
    const { position, messageId } = (await messageOf(store, endpoint, eventId)) ?? {};
    if (position === undefined) return false;
    return (
      (messageId !== undefined && (await endpoints.hurry(endpoint, messageId))) ||
      endpoints.resend(endpoint, position, eventId)
    );
  }

  const actions: { [Action in WebhookAction]: Handle<Action> } = {
    async list({ partnerId }) {
      const listed = await endpoints.list(partnerId);
      const webhooks = await Promise.all(listed.map((one) => summaryOf(store, one)));
      return { webhooks, eventTypes: TYPES };
    },
    show: on<'show'>(async (endpoint) => {
      const webhook = await summaryOf(store, endpoint);
      const all = (await messagesOf(store.webhooks, endpoint)).map(({ shown }) => shown);
      const isWaiting = ({ outcome }: WebhookDelivery) => outcome === 'waiting';
      const waiting = all.filter(isWaiting).slice(0, MAX_WAITING);
      const deliveries = [...waiting, ...all.filter((one) => !isWaiting(one))];
      return { webhook, deliveries, eventTypes: TYPES };
    }),
    message: on<'message'>(async (endpoint, { eventId }) => {
      const found = await messageOf(store, endpoint, eventId);
      if (found === undefined) return { refused: 'unlisted' };
      const { position, shown: message, history } = found;
      const { partnerId } = endpoint;
      const event = position && (await endpoints.keptEvent(partnerId, position, eventId));
      const shown = { webhook: viewOf(endpoint), message, history };
      return event ? { ...shown, payload: payloadOf(contentOf(event)) } : shown;
    }),
    async create({ partnerId, url, types }, by) {
      const refusal = secrets.isUsable ? refusalOf(url, by) : NO_KEY;
      if (refusal !== undefined) return refusal;
      const target = { partnerId, url, types: typesIn(types), ...by };
      const made = await endpoints.create(target);
      return made === undefined ? { refused: 'tooMany' } : withSecret(made);
    },
    edit: on<'edit'>(async (endpoint, { url, types }, by) => {
      const kept = types === undefined ? endpoint.types : typesIn(types);
      // What a URL may lead to depends on who gave it.
      const { byStaff } = url === undefined ? endpoint : by;
      const target = { url: url ?? endpoint.url, types: kept, ...(byStaff && { byStaff }) };
      return (
        refusalOf(target.url, target) ?? changed(await endpoints.edit(endpoint.webhookId, target))
      );
    }),
    rotate: on<'rotate'>(async ({ webhookId }) => {
      if (!secrets.isUsable) return NO_KEY;
      const rotated = await endpoints.rotateSecret(webhookId);
      return rotated === undefined ? UNKNOWN : withSecret(rotated);
    }),
    test: on<'test'>(async (endpoint) => {
      if (!secrets.isUsable) return NO_KEY;
      if (send === undefined) return { refused: 'off' };
      const { webhookId } = endpoint;
      if (tests.has(webhookId) || !mayTest(endpoint.partnerId)) return { refused: 'testing' };
      const test = sendTest(store, endpoint, send, closing.signal);
      tests.set(webhookId, test);
      const sent = test.finally(() => tests.delete(webhookId));
      return { sent: await withTimeout(sent, testMs, 'a test takes long').catch(() => undefined) };
    }),
    replay: on<'replay'>(async (endpoint, asked) => {
      if (endpoint.state === 'disabled') return { refused: 'disabled' };
      if ('since' in asked) {
        const replayed = await endpoints.replay(endpoint, new Date(asked.since));
        return replayed === undefined ? { refused: 'replaying' } : { webhook: viewOf(replayed) };
      }
      const isKept = await resend(endpoint, asked.eventId);
      return isKept ? { webhook: viewOf(endpoint) } : { refused: 'dropped' };
    }),
    disable: on<'disable'>(async ({ webhookId }, _, { byStaff }) =>
      changed(await endpoints.disable(webhookId, byStaff ? 'CONSOLE' : 'COMMAND')),
    ),
    enable: on<'enable'>(async ({ webhookId }) => changed(await endpoints.enable(webhookId))),
    remove: on<'remove'>(async (endpoint) => {
      await endpoints.remove(endpoint);
      return { webhook: viewOf(endpoint) };
    }),
  };

  return {
    manage: <Action extends WebhookAction>(request: WebhookRequest<Action>, by: By = {}) =>
      actions[request.action](request, by),
    /** Ends the tests in progress. */
    async close(): Promise<void> {
      closing.abort();
      await Promise.allSettled(tests.values());
    },
  };
}

function changed(endpoint: Endpoint | undefined) {
  return endpoint === undefined ? UNKNOWN : { webhook: viewOf(endpoint) };
}

function withSecret({ endpoint, secret }: { endpoint: Endpoint; secret: string }) {
  return { webhook: viewOf(endpoint), secret };
}

/** Undefined for every type. Those that do not exist are left out. */
function typesIn(given: string[] | null | undefined): EventType[] | undefined {
  return given ? TYPES.filter((type) => given.includes(type)) : undefined;
}

async function endpointOf(
  { webhooks }: Store,
  { partnerId, webhookId }: { partnerId: string; webhookId: string },
): Promise<Endpoint | undefined> {
  if (!/^wh_[\w-]{1,64}$/.test(webhookId)) return undefined;
  const endpoint = await webhooks.endpoints.get(webhookId);
  return endpoint?.partnerId === partnerId ? endpoint : undefined;
}

/** A message that waits, or else its latest outcome. */
async function messageOf({ webhooks }: Store, endpoint: Endpoint, eventId: string) {
  return (await messagesOf(webhooks, endpoint)).find(({ shown }) => shown.id === eventId);
}

/** Sends a message of the type TEST, and writes its outcome to the log of deliveries. */
async function sendTest(store: Store, endpoint: Endpoint, send: Send, signal: AbortSignal) {
  const now = Date.now();
  const message = { id: `test_${randomUUID()}`, type: 'TEST', timestamp: new Date(now), data: {} };
  const { ok, ...sent } = await send(endpoint, message, { signal, now });
  const { id, type } = message;
  const outcome = { id, type, at: Date.now(), attempts: 1, ...sent };
  const [delivered, failed] = ok ? [[outcome], []] : [[], [outcome]];
  const { endpoints, logs } = store.webhooks;
  await addOutcomes(store.webhooks, endpoint.webhookId, { delivered, failed });
  // It may have been removed meanwhile, with its log.
  if ((await endpoints.get(endpoint.webhookId)) === undefined)
    await logs.remove(endpoint.webhookId);
  return deliveryOf(outcome, ok ? 'delivered' : 'failed');
}
