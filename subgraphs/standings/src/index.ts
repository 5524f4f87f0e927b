// The public list of the standings subgraph.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSubgraphSchema } from '@apollo/subgraph';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { openByEngine } from '@partner-loyalty/runtime/store/engine.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import type { Subgraph } from '@partner-loyalty/runtime/subgraph/types.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { parse } from 'graphql';
import { startSequencer } from './events/sequencer.ts';
import { createMembersClient } from './members.ts';
import { createResolvers } from './resolvers.ts';
import type { StandingsStore } from './store/store.ts';
import { createWebhookManager, type WebhookManager } from './webhooks/manage.ts';
import { createSender } from './webhooks/send.ts';
import { createWebhookSecrets } from './webhooks/target.ts';
import { startDeliveries } from './webhooks/worker.ts';

export {
  type Activity,
  createActivityParser,
  type DatedActivity,
  parseInstant,
} from './rules/activity.ts';
export { EVENT_TYPES, type EventType } from './rules/event.ts';
export { DEFAULT_PROGRAM, type Program, parseProgram } from './rules/program.ts';
export { joinStandings, type Standing } from './rules/standing.ts';
export { tierOf } from './rules/tiers.ts';
export { yearOf } from './rules/year.ts';
export type { RecordOutcome, StandingsStore } from './store/store.ts';
export type { Endpoint } from './store/webhooks.ts';
export { disableEndpoint, endpointsOf, MAX_ENDPOINTS } from './webhooks/endpoints.ts';
export { createSender, createWebhookManager, createWebhookSecrets };

export const openStandingsStore = openByEngine<StandingsStore>({
  lmdb: async () => (await import('./store/store.lmdb.ts')).openLmdbStandingsStore,
  mongo: async () => (await import('./store/store.mongo.ts')).openMongoStandingsStore,
});

/** Reports what is wrong with the store. Resolves with the number of activities. */
export const verifyStandings = openByEngine<number, [Inspection]>({
  lmdb: async () => (await import('./verify/verify.lmdb.ts')).verifyLmdbStandings,
  mongo: async () => (await import('./verify/verify.mongo.ts')).verifyMongoStandings,
});

type StandingsSettings = Pick<
  Settings,
  | 'environment'
  | 'eventRetentionDays'
  | 'host'
  | 'keyEncryptionKey'
  | 'webhookDelivery'
  | 'webhookPrivate'
>;

type StandingsOptions = {
  /** Returns the current time, which decides the current membership year. */
  now?: () => Date;
  /** Whether requests may choose the time that they are answered as of. */
  isSandbox?: boolean;
  /** Leads to the members subgraph. Without it, partners cannot record activities. */
  members?: Pick<Transport, 'execute'> | undefined;
  log?: Pick<Log, 'warn'>;
  /** Without it, nobody can manage webhooks by the operation. */
  manageWebhooks?: WebhookManager['manage'];
};

/** A test that takes longer goes on; the answer has to be within the deadline of a subgraph. */
const TEST_MS = 1_200;

/**
 * Starts the subgraph, with a sequencer if members can be reached, and the delivery of webhooks
 * unless that is off. Closing it finishes what is in progress, then closes the store.
 */
export function startStandings(
  store: StandingsStore,
  settings: StandingsSettings,
  { members, log, metrics, ...options }: StandingsOptions & { log: Log; metrics: Metrics },
): Subgraph {
  const isSandbox = settings.environment === 'sandbox';
  const sender = senderOf(settings);
  const deliveries = sender && startDeliveries(store, { send: sender.send, log, metrics });
  const manager = createWebhookManager(store, settings, { send: sender?.send, testMs: TEST_MS });
  const manageWebhooks = manager.manage;
  const given = { members, log, isSandbox, manageWebhooks, ...options };
  const subgraph = createStandings(store, given);
  const sequencer =
    members &&
    startSequencer(store.feed, {
      members: createMembersClient(members, log),
      retentionDays: settings.eventRetentionDays,
      onEvents: deliveries?.wake,
      log,
      metrics,
    });
  const close = async () => {
    await Promise.all([sequencer?.stop(), deliveries?.stop(), manager.close()]);
    await sender?.close();
    await store.close();
  };
  return { ...subgraph, close };
}

function senderOf(settings: StandingsSettings) {
  const secrets = createWebhookSecrets(settings);
  const isUsed = settings.webhookDelivery === 'on' && secrets.isUsable;
  return isUsed ? createSender(settings, secrets) : undefined;
}

/** The subgraph on a store; closing the subgraph closes the store. */
export function createStandings(
  store: StandingsStore,
  {
    now = () => new Date(),
    isSandbox = false,
    members,
    log,
    manageWebhooks,
  }: StandingsOptions = {},
): Subgraph {
  const typeDefs = parse(readFileSync(join(import.meta.dirname, '../schema.graphql'), 'utf8'));
  const resolvers = createResolvers(store, createMembersClient(members, log), {
    now,
    isSandbox,
    manageWebhooks,
  });
  const schema = buildSubgraphSchema([{ typeDefs, resolvers }]);
  return { name: 'standings', schema, ready: store.ready, close: store.close };
}
