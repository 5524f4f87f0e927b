// `loyalty webhooks`: creates, changes, tests and lists the endpoints that partners get events at.
import { randomUUID } from 'node:crypto';
import type { KeyStore } from '@partner-loyalty/gateway';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import {
  createEndpoint,
  createSender,
  createWebhookSecrets,
  disableEndpoint,
  type Endpoint,
  EVENT_TYPES,
  type EventType,
  enableEndpoint,
  endpointsOf,
  MAX_ENDPOINTS,
  removeEndpoint,
  replayEvents,
  rotateSecret,
  type StandingsStore,
  urlFault,
} from '@partner-loyalty/standings';
import { Command } from 'commander';
import { eventTypes, since, typed } from '../shell/argument.ts';
import { CommandError, noSuch, type Row, type Shell } from '../shell/shell.ts';
import { claimForOperator, requirePartner, withStore } from '../shell/stores.ts';

export function webhooksCommand(shell: Shell): Command {
  const group = new Command('webhooks').description('manage where partners get their events');
  const onPartner = (name: string, description: string) =>
    group.command(name).description(description).argument('<partner>', "the partner's ID");
  const onEndpoint = (name: string, description: string) =>
    group
      .command(name)
      .description(description)
      .argument('<webhookid>', "the endpoint's ID, as listed");
  onPartner('create', 'create an endpoint and print its secret; it is not shown again')
    .requiredOption('--url <url>', 'where to send the events')
    .option('--types <list>', 'the types of events (default: all)', typed('--types', eventTypes))
    .action((id: string, options: CreateOptions) => create(shell, id, options));
  onPartner('list', "list a partner's endpoints").action((id: string) => list(shell, id));
  onEndpoint('rotate-secret', 'create another secret; for 24 hours, both sign').action(
    async (id: string) => {
      const secrets = usableSecrets(shell.settings());
      printSecret(shell, await change(shell, id, (store) => rotateSecret(store, secrets, id)));
    },
  );
  onEndpoint('test', 'send a message of the type TEST').action((id: string) => test(shell, id));
  onEndpoint('deliveries', 'list the latest messages: delivered, or given up').action(
    (id: string) => deliveries(shell, id),
  );
  onEndpoint('replay', 'send events again, from a time on')
    .requiredOption(
      '--since <time>',
      'such as 2h ago, or an ISO 8601 time',
      typed('--since', since),
    )
    .action((id: string, options: { since: Date }) => replay(shell, id, options.since));
  onEndpoint('disable', 'send nothing until it is enabled').action(async (id: string) =>
    shell.print(rowOf(await change(shell, id, (store) => disableEndpoint(store, id, 'COMMAND')))),
  );
  onEndpoint('enable', 'send the events from now on').action((id: string) => enable(shell, id));
  onEndpoint('remove', 'remove an endpoint').action(async (id: string) => {
    await withEndpoint(shell, id, removeEndpoint);
    shell.print({ webhookId: id, state: 'removed' });
  });
  return group;
}

type CreateOptions = { url: string; types?: EventType[] };

async function create(shell: Shell, partnerId: string, options: CreateOptions): Promise<void> {
  const settings = shell.settings();
  const secrets = usableSecrets(settings);
  const fault = urlFault(options.url, settings);
  if (fault !== undefined) throw new CommandError(`--url ${fault}`);
  await withStore('keys', settings, async (keys) => {
    await requireActive(keys, partnerId);
    await claimForOperator(keys);
  });
  const created = await withStore('standings', settings, (store) =>
    createEndpoint(store, secrets, { partnerId, ...options }),
  );
  if (created !== undefined) return printSecret(shell, created);
  const most = `${MAX_ENDPOINTS} endpoints, which is the most`;
  throw new CommandError(`partner ${partnerId} has ${most}`);
}

function usableSecrets(settings: Settings) {
  const secrets = createWebhookSecrets(settings);
  if (!secrets.isUsable) throw new CommandError('KEY_ENCRYPTION_KEY must be set in production');
  return secrets;
}

function printSecret(shell: Shell, { endpoint, secret }: { endpoint: Endpoint; secret: string }) {
  shell.print({ ...rowOf(endpoint), secret });
  if (!shell.json) shell.note('Save the secret now: it is not shown again.');
}

async function list(shell: Shell, partnerId: string): Promise<void> {
  const settings = shell.settings();
  await withStore('keys', settings, (keys) => requirePartner(keys, partnerId));
  const found = await withStore('standings', settings, (store) => endpointsOf(store, partnerId));
  if (found.length === 0)
    shell.note(`partner ${partnerId} has no webhooks: loyalty webhooks create ${partnerId}`);
  else shell.printAll(found.map(rowOf));
}

function rowOf(endpoint: Endpoint): Row {
  const { webhookId, partnerId, url, types = Object.keys(EVENT_TYPES), state } = endpoint;
  const { disabledBecause } = endpoint;
  const createdAt = new Date(endpoint.createdAt);
  return { webhookId, partnerId, url, types, state, disabledBecause, createdAt };
}

async function test(shell: Shell, webhookId: string): Promise<void> {
  const settings = shell.settings();
  const endpoint = await withEndpoint(shell, webhookId, (_, found) => found);
  const sender = createSender(settings, usableSecrets(settings));
  const now = Date.now();
  const message = { id: `test_${randomUUID()}`, type: 'TEST', timestamp: new Date(now), data: {} };
  const { signal } = new AbortController();
  const { ok, ...sent } = await sender.send(endpoint, message, { signal, now });
  await sender.close();
  shell.print({ webhookId, id: message.id, outcome: ok ? 'delivered' : 'failed', ...sent });
  if (!ok) throw new CommandError(`the message was not delivered to webhook ${webhookId}`);
}

async function deliveries(shell: Shell, webhookId: string): Promise<void> {
  const log = await withEndpoint(shell, webhookId, (store) => store.webhooks.logs.get(webhookId));
  const rows = (['delivered', 'failed'] as const).flatMap((outcome) =>
    (log?.[outcome] ?? []).map((one) => ({ ...one, outcome, at: new Date(one.at) })),
  );
  if (rows.length === 0) shell.note(`nothing was sent to webhook ${webhookId} yet`);
  else shell.printAll(rows.sort((a, b) => b.at.getTime() - a.at.getTime()));
}

async function enable(shell: Shell, webhookId: string): Promise<void> {
  const { partnerId } = await withEndpoint(shell, webhookId, (_, found) => found);
  await withStore('keys', shell.settings(), (keys) => requireActive(keys, partnerId));
  shell.print(rowOf(await change(shell, webhookId, (store) => enableEndpoint(store, webhookId))));
}

/** While a partner is suspended, it gets no events. */
async function requireActive(keys: KeyStore, partnerId: string): Promise<void> {
  const { suspendedAt } = await requirePartner(keys, partnerId);
  if (suspendedAt === undefined) return;
  const resume = `loyalty partners resume ${partnerId}`;
  throw new CommandError(`partner ${partnerId} is suspended: ${resume}`);
}

async function replay(shell: Shell, webhookId: string, since: Date): Promise<void> {
  await withEndpoint(shell, webhookId, (store, endpoint) => {
    if (endpoint.state === 'active') return replayEvents(store, endpoint, since);
    const enable = `loyalty webhooks enable ${webhookId}`;
    throw new CommandError(`webhook ${webhookId} is disabled: ${enable}`);
  });
  shell.print({ webhookId, since });
}

async function change<T>(
  shell: Shell,
  webhookId: string,
  work: (store: StandingsStore) => Promise<T | undefined>,
): Promise<T> {
  const changed = await withStore('standings', shell.settings(), work);
  if (changed === undefined) throw noSuch('webhook', webhookId);
  return changed;
}

function withEndpoint<T>(
  shell: Shell,
  webhookId: string,
  work: (store: StandingsStore, endpoint: Endpoint) => Promise<T> | T,
): Promise<T> {
  return withStore('standings', shell.settings(), async (store) => {
    const endpoint = await store.webhooks.endpoints.get(webhookId);
    if (endpoint === undefined) throw noSuch('webhook', webhookId);
    return work(store, endpoint);
  });
}
