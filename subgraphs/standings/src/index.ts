// The public list of the standings subgraph.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSubgraphSchema } from '@apollo/subgraph';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { noteErasure } from '@partner-loyalty/runtime/process/erased.open.ts';
import type { StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import type { Subgraph } from '@partner-loyalty/runtime/subgraph/types.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { parse } from 'graphql';
import { startSequencer } from './events/sequencer.ts';
import { createMembersClient } from './members.ts';
import type { StandingsExtension, StandingsSettings, Webhooks } from './ports.ts';
import { createResolvers } from './resolvers.ts';
import { createStandingsStore, openTables, type StandingsStore } from './store/store.ts';

export type { StandingsExtension } from './ports.ts';
export {
  createActivityParser,
  type DatedActivity,
  parseInstant,
} from './rules/activity.ts';
export { EVENT_TYPES, type EventType } from './rules/event.ts';
export { DEFAULT_PROGRAM, type Program, parseProgram } from './rules/program.ts';
export { joinStandings } from './rules/standing.ts';
export { tierOf } from './rules/tiers.ts';
export { yearOf } from './rules/year.ts';
export type { RecordOutcome } from './store/record.ts';
export type { StandingsStore } from './store/store.ts';
export type { Endpoint } from './store/webhooks.ts';
export { verifyStandings } from './verify/verify.ts';

/** Rejects if the store cannot be opened or belongs to the other environment. */
export async function openStandingsStore(settings: StoreSettings): Promise<StandingsStore> {
  const store = await openTables(settings);
  return createStandingsStore(store, () => noteErasure(settings, 'standings'));
}

type StandingsOptions = {
  /** Returns the current time, which decides the current membership year. */
  now?: () => Date;
  /** Whether requests may choose the time that they are answered as of. */
  isSandbox?: boolean;
  /** Leads to the members subgraph. Without it, partners cannot record activities. */
  members?: Pick<Transport, 'execute'> | undefined;
  log?: Pick<Log, 'warn'>;
  /** Without it, nobody can manage webhooks by the operation. */
  webhooks?: Webhooks | undefined;
};

/**
 * Starts the subgraph, with a sequencer if members can be reached, and its extensions. Closing it
 * finishes what is in progress, then closes the store.
 */
export function startStandings(
  store: StandingsStore,
  settings: StandingsSettings,
  {
    members,
    log,
    metrics,
    extensions = [],
    ...options
  }: StandingsOptions & { log: Log; metrics: Metrics; extensions?: readonly StandingsExtension[] },
): Subgraph {
  const isSandbox = settings.environment === 'sandbox';
  const core = { store, settings, log, metrics };
  const [webhooks] = extensions.map(({ openWebhooks }) => openWebhooks(core));
  const subgraph = createStandings(store, { members, log, isSandbox, webhooks, ...options });
  const sequencer =
    members &&
    startSequencer(store.feed, {
      members: createMembersClient(members, log),
      retentionDays: settings.eventRetentionDays,
      onEvents: webhooks?.wake,
      log,
      metrics,
    });
  const close = async () => {
    await Promise.all([sequencer?.stop(), webhooks?.close()]);
    await store.close();
  };
  return { ...subgraph, close };
}

/** The subgraph on a store; closing the subgraph closes the store. */
export function createStandings(
  store: StandingsStore,
  { now = () => new Date(), isSandbox = false, members, log, webhooks }: StandingsOptions = {},
): Subgraph {
  const typeDefs = parse(readFileSync(join(import.meta.dirname, '../schema.graphql'), 'utf8'));
  const resolvers = createResolvers(store, createMembersClient(members, log), {
    now,
    isSandbox,
    webhooks,
  });
  const schema = buildSubgraphSchema([{ typeDefs, resolvers }]);
  return { name: 'standings', schema, ready: store.ready, close: store.close };
}
