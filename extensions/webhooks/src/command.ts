// `loyalty webhooks`: creates, changes, tests and lists the endpoints that partners get events at.
import { commandGroup, eventTypes, PARTNER, since } from '@partner-loyalty/cli/shell/argument.ts';
import { CommandError, noSuch, type Row, type Shell } from '@partner-loyalty/cli/shell/shell.ts';
import {
  claimForOperator,
  readStore,
  requirePartner,
  withStore,
} from '@partner-loyalty/cli/shell/stores.ts';
import type { KeyStore } from '@partner-loyalty/gateway';
import type {
  Webhook,
  WebhookAction,
  WebhookDelivery,
  WebhookDone,
  WebhookInput,
  WebhookRefusal,
  WebhookSummary,
} from '@partner-loyalty/runtime/manage/webhooks.ts';
import { type Endpoint, EVENT_TYPES, type EventType } from '@partner-loyalty/standings';
import { endpointsIn, MAX_ENDPOINTS } from './endpoints.ts';
import { createWebhookManager } from './manage.ts';
import { createSender } from './send.ts';
import { createWebhookSecrets } from './target.ts';

export function commands(shell: Shell) {
  const { group, add } = commandGroup('webhooks', 'manage where partners get their events');
  const onEndpoint = (name: string, description: string) =>
    add(name, description, { '<webhookid>': "the endpoint's ID, as listed" });
  add('create', 'create an endpoint and print its secret; it is not shown again', PARTNER)
    .requiredOption('--url <url>', 'where to send the events')
    .value('--types <list>', 'the types of events (default: all)', eventTypes)
    .action((id: string, options: Target & { url: string }) => create(shell, id, options));
  add('list', "list a partner's endpoints", PARTNER).action((id: string) => list(shell, id));
  onEndpoint('update', 'change where the events go, or which')
    .option('--url <url>', 'where to send the events')
    .value('--types <list>', 'the types of events', eventTypes)
    .option('--all-types', 'all types of events, those to come too')
    .action((id: string, options: Target & { allTypes?: true }) => update(shell, id, options));
  onEndpoint('rotate-secret', 'create another secret; for 24 hours, both sign').action(
    async (id: string) => printSecret(shell, await ask(shell, 'rotate', { webhookId: id })),
  );
  onEndpoint('test', 'send a message of the type TEST').action((id: string) => test(shell, id));
  onEndpoint('deliveries', 'list what waits, and the latest messages delivered or given up')
    .option('--event <id>', 'the ID of one event: its attempts, and what is sent')
    .action((id: string, options: Replay) => deliveries(shell, id, options));
  onEndpoint('replay', 'send events again: one, or from a time on')
    .value('--since <time>', 'such as 2h, or an ISO 8601 time', since)
    .option('--event <id>', 'the ID of one event among the deliveries')
    .action((id: string, options: Replay) => replay(shell, id, options));
  onEndpoint('disable', 'send nothing until it is enabled').action(async (id: string) =>
    shell.print(rowOf((await ask(shell, 'disable', { webhookId: id })).webhook)),
  );
  onEndpoint('enable', 'send the events from now on').action((id: string) => enable(shell, id));
  onEndpoint('remove', 'remove an endpoint').action(async (id: string) => {
    await ask(shell, 'remove', { webhookId: id });
    shell.print({ webhookId: id, state: 'removed' });
  });
  return [group];
}

/** Suspensions are in the gateway's store, which the processes that send webhooks do not read. */
export async function suspend(shell: Shell, partnerId: string): Promise<void> {
  const settings = shell.settings();
  const disabled = await withStore('standings', settings, async (store) => {
    const endpoints = endpointsIn(store, createWebhookSecrets(settings));
    const active = (await endpoints.list(partnerId)).filter(({ state }) => state === 'active');
    for (const { webhookId } of active) await endpoints.disable(webhookId, 'SUSPENDED');
    return active;
  });
  if (disabled.length > 0) shell.note(`Disabled webhooks: ${idsOf(disabled)}`);
}

export async function resume(shell: Shell, partnerId: string): Promise<void> {
  const settings = shell.settings();
  const endpoints = await withStore('standings', settings, (store) =>
    endpointsIn(store, createWebhookSecrets(settings)).list(partnerId),
  );
  const disabled = endpoints.filter(({ disabledBecause }) => disabledBecause === 'SUSPENDED');
  if (disabled.length > 0)
    shell.note(
      `Webhooks stay disabled: ${idsOf(disabled)}. To send events again: loyalty webhooks enable ` +
        'ID, then loyalty webhooks replay ID --since TIME',
    );
}

function idsOf(endpoints: readonly Endpoint[]): string {
  return endpoints.map(({ webhookId }) => webhookId).join(', ');
}

type Target = { url?: string; types?: EventType[] };
type Replay = { since?: Date; event?: string };

async function create(shell: Shell, partnerId: string, target: Target & { url: string }) {
  await withStore('keys', shell.settings(), async (keys) => {
    await requireActive(keys, partnerId);
    await claimForOperator(keys);
  });
  printSecret(shell, await ask(shell, 'create', { partnerId, ...target }));
}

function printSecret(shell: Shell, { webhook, secret }: WebhookDone<'rotate'>) {
  shell.printOnce({ ...rowOf(webhook), secret }, 'Save the secret now: it is not shown again.');
}

async function list(shell: Shell, partnerId: string): Promise<void> {
  await readStore('keys', shell.settings(), (keys) => requirePartner(keys, partnerId));
  const { webhooks } = await ask(shell, 'list', { partnerId });
  if (webhooks.length === 0)
    shell.note(`partner ${partnerId} has no webhooks: loyalty webhooks create ${partnerId}`);
  else shell.printAll(webhooks.map((one) => ({ ...rowOf(one), ...healthOf(one) })));
}

function rowOf(webhook: Webhook): Row {
  const { webhookId, partnerId, url, types = Object.keys(EVENT_TYPES), state } = webhook;
  const { disabledBecause } = webhook;
  const createdAt = new Date(webhook.createdAt);
  return { webhookId, partnerId, url, types, state, disabledBecause, createdAt };
}

/** How the attempts went, and what comes. */
function healthOf({ failingSince, nextAttemptAt, replay, ...webhook }: WebhookSummary): Row {
  const { attempts, waiting, lastStatus, lastReason } = webhook;
  return {
    failingSince: failingSince && new Date(failingSince),
    ...{ lastStatus, lastReason, attempts, waiting },
    nextAttemptAt: nextAttemptAt && new Date(nextAttemptAt),
    replay: replay && { ...replay, startedAt: new Date(replay.startedAt) },
  };
}

async function update(
  shell: Shell,
  webhookId: string,
  { url, types, allTypes }: Target & { allTypes?: true },
): Promise<void> {
  if (url === undefined && types === undefined && allTypes === undefined)
    throw new CommandError('there is nothing to change; --help lists the options');
  const { webhook } = await ask(shell, 'edit', {
    webhookId,
    ...(url !== undefined && { url }),
    ...((allTypes || types !== undefined) && { types: allTypes ? null : types }),
  });
  shell.print(rowOf(webhook));
}

async function test(shell: Shell, webhookId: string): Promise<void> {
  const { sent } = await ask(shell, 'test', { webhookId });
  if (sent === undefined) throw new CommandError(`webhook ${webhookId} takes too long`);
  const { id, outcome, status, reason, durationMs } = sent;
  shell.print({ webhookId, id, outcome, status, reason, durationMs });
  if (outcome === 'failed')
    throw new CommandError(`the message was not delivered to webhook ${webhookId}`);
}

async function deliveries(shell: Shell, webhookId: string, { event }: Replay): Promise<void> {
  if (event !== undefined) return delivery(shell, webhookId, event);
  const { webhook, deliveries: found } = await ask(shell, 'show', { webhookId });
  const { state } = webhook;
  const rows = found.map(deliveryRow);
  if (state !== 'active') shell.print({ webhookId, state, ...healthOf(webhook) });
  if (rows.length > 0) shell.printAll(rows);
  else if (state === 'active') shell.note(`nothing was sent to webhook ${webhookId} yet`);
}

function deliveryRow({ isEvent: _, nextAttemptAt, ...one }: WebhookDelivery): Row {
  const next = nextAttemptAt && { nextAttemptAt: new Date(nextAttemptAt) };
  return { ...one, at: new Date(one.at), ...next };
}

/** In a line of JSON, or as a table of the attempts with what is sent below. */
async function delivery(shell: Shell, webhookId: string, eventId: string): Promise<void> {
  const { message, payload, ...found } = await ask(shell, 'message', { webhookId, eventId });
  const history = found.history.map((one) => ({ ...one, at: new Date(one.at) }));
  const row = deliveryRow(message);
  if (shell.json) return shell.print({ ...row, history, payload });
  shell.print(row);
  shell.printAll(history);
  if (payload === undefined) shell.note('its event is not kept');
  else shell.print({ payload });
}

async function enable(shell: Shell, webhookId: string): Promise<void> {
  const { webhook } = await ask(shell, 'show', { webhookId });
  await withStore('keys', shell.settings(), (keys) => requireActive(keys, webhook.partnerId));
  shell.print(rowOf((await ask(shell, 'enable', { webhookId })).webhook));
}

/** While a partner is suspended, it gets no events. */
async function requireActive(keys: KeyStore, partnerId: string): Promise<void> {
  const { suspendedAt } = await requirePartner(keys, partnerId);
  if (suspendedAt === undefined) return;
  const resume = `loyalty partners resume ${partnerId}`;
  throw new CommandError(`partner ${partnerId} is suspended: ${resume}`);
}

async function replay(shell: Shell, webhookId: string, { since, event }: Replay): Promise<void> {
  if ((since === undefined) === (event === undefined))
    throw new CommandError('give either --since or --event');
  const what = since === undefined ? { eventId: event ?? '' } : { since: since.getTime() };
  await ask(shell, 'replay', { webhookId, ...what });
  shell.print({ webhookId, since, event });
}

type Named = { partnerId?: string; webhookId?: string; eventId?: string };

/** Longer than an attempt takes. */
const TEST_MS = 60_000;

const READING: ReadonlySet<WebhookAction> = new Set(['list', 'show', 'message']);

/** Asks about what a partner has, or about an endpoint of whichever partner. */
function ask<Action extends WebhookAction>(
  shell: Shell,
  action: Action,
  input: WebhookInput<Action> & Named,
): Promise<WebhookDone<Action>> {
  const settings = shell.settings();
  const open = READING.has(action) ? readStore : withStore;
  return open('standings', settings, async (store) => {
    const { webhookId = '' } = input;
    const found =
      input.partnerId === undefined ? await store.webhooks.endpoints.get(webhookId) : input;
    if (found?.partnerId === undefined) throw noSuch('webhook', webhookId);
    const { partnerId } = found;
    const { send, close } = createSender(settings, createWebhookSecrets(settings));
    const { manage } = createWebhookManager(store, settings, { send, testMs: TEST_MS });
    const answer = await manage({ ...input, action, partnerId }).finally(close);
    if ('refused' in answer) throw refusal(answer, { ...input, partnerId });
    // Cast: TypeScript does not see that only the answer of the action is left.
    return answer as WebhookDone<Action>;
  });
}

function refusal({ refused, fault }: WebhookRefusal, { partnerId, webhookId, eventId }: Named) {
  const texts: { [Reason in WebhookRefusal['refused']]?: string } = {
    url: `--url ${fault}`,
    noKey: 'KEY_ENCRYPTION_KEY must be set in production',
    replaying: `webhook ${webhookId} is sending events again already`,
    disabled: `webhook ${webhookId} is disabled: loyalty webhooks enable ${webhookId}`,
    tooMany: `partner ${partnerId} has ${MAX_ENDPOINTS} endpoints, which is the most`,
  };
  const text = texts[refused];
  if (text !== undefined) return new CommandError(text);
  if (refused === 'unlisted') return noSuch('message', eventId);
  if (refused === 'dropped') return noSuch('event to send again', eventId);
  return noSuch('webhook', webhookId);
}
