// The public list of the standings subgraph.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { openByEngine } from '@partner-loyalty/runtime/store/engine.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { buildSubgraphSchema } from '@partner-loyalty/runtime/subgraph/schema.ts';
import type { Subgraph } from '@partner-loyalty/runtime/subgraph/types.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { startSequencer } from './events/sequencer.ts';
import { createMembersClient } from './members.ts';
import { createResolvers } from './resolvers.ts';
import type { StandingsStore } from './store/store.ts';
import { createWebhookSecrets } from './webhooks/secrets.ts';
import { createSender } from './webhooks/send.ts';
import { startDeliveries } from './webhooks/worker.ts';

export { type Activity, createActivityParser, type DatedActivity } from './rules/activity.ts';
export { EVENT_TYPES, type EventType } from './rules/event.ts';
export { DEFAULT_PROGRAM, type Program, parseProgram } from './rules/program.ts';
export { joinStandings, type Standing } from './rules/standing.ts';
export { tierOf } from './rules/tiers.ts';
export { yearOf } from './rules/year.ts';
export type { RecordOutcome, StandingsStore } from './store/store.ts';
export type { Endpoint } from './store/webhooks.ts';
export {
  createEndpoint,
  disableEndpoint,
  enableEndpoint,
  endpointsOf,
  MAX_ENDPOINTS,
  removeEndpoint,
  replayEvents,
  rotateSecret,
} from './webhooks/endpoints.ts';
export { urlFault } from './webhooks/target.ts';
export { createSender, createWebhookSecrets };

export const openStandingsStore = openByEngine<StandingsStore>({
  lmdb: async () => (await import('./store/store.lmdb.ts')).openLmdbStandingsStore,
  mongo: async () => (await import('./store/store.mongo.ts')).openMongoStandingsStore,
});

/** Reports what is wrong with the store. Resolves with the number of activities. */
export const verifyStandings = openByEngine<number, [Inspection]>({
  lmdb: async () => (await import('./verify/verify.lmdb.ts')).verifyLmdbStandings,
  mongo: async () => (await import('./verify/verify.mongo.ts')).verifyMongoStandings,
});

export type StandingsSettings = Pick<
  Settings,
  'environment' | 'eventRetentionDays' | 'keyEncryptionKey' | 'webhookDelivery' | 'webhookPrivate'
>;

/** What the subgraph needs beside its store. */
export type StandingsOptions = {
  /** Returns the current time, which decides the current membership year. */
  now?: () => Date;
  /** Whether requests may choose the time that they are answered as of. */
  isSandbox?: boolean;
  /** Leads to the members subgraph. Without it, partners cannot record activities. */
  members?: Pick<Transport, 'execute'> | undefined;
  log?: Pick<Log, 'warn'>;
};

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
  const subgraph = createStandings(store, { members, log, isSandbox, ...options });
  const deliveries = deliveriesOf(store, settings, { log, metrics });
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
    await Promise.all([sequencer?.stop(), deliveries?.stop()]);
    await store.close();
  };
  return { ...subgraph, close };
}

function deliveriesOf(
  store: StandingsStore,
  settings: StandingsSettings,
  { log, metrics }: { log: Log; metrics: Metrics },
) {
  const secrets = createWebhookSecrets(settings);
  if (settings.webhookDelivery === 'off' || !secrets.isUsable) return undefined;
  const { send, close } = createSender(settings, secrets);
  const { wake, stop } = startDeliveries(store, { send, log, metrics });
  return { wake, stop: () => stop().then(close) };
}

/** The subgraph on a store; closing the subgraph closes the store. */
export function createStandings(
  store: StandingsStore,
  { now = () => new Date(), isSandbox = false, members, log }: StandingsOptions = {},
): Subgraph {
  const sdl = readFileSync(join(import.meta.dirname, '../schema.graphql'), 'utf8');
  const resolvers = createResolvers(store, createMembersClient(members, log), {
    now,
    isSandbox,
  });
  const schema = buildSubgraphSchema(sdl, resolvers);
  return { name: 'standings', schema, ready: store.ready, close: store.close };
}
