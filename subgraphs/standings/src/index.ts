// The public list of the standings subgraph.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSubgraphSchema } from '@apollo/subgraph';
import type { Settings, Subgraph } from '@partner-loyalty/runtime';
import { parse } from 'graphql';
import { createResolvers } from './resolvers.ts';
import { openLmdbStandingsStore } from './store/store.lmdb.ts';
import { openMongoStandingsStore } from './store/store.mongo.ts';
import type { StandingsStore } from './store/store.ts';

export { checkActivity } from './activity.ts';
export { checkProgram, DEFAULT_PROGRAM } from './program.ts';
export type {
  Activity,
  DatedActivity,
  Program,
  Recorded,
  Standing,
  StandingsStore,
} from './store/store.ts';
export { tierOf } from './tiers.ts';
export { yearOf } from './year.ts';

/** Opens the standings store: on MongoDB where the settings name one, else embedded. Throws where it cannot be had or belongs to the other environment. */
export function openStandingsStore({
  mongodbUrl,
  dataDir,
  environment,
}: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>): Promise<StandingsStore> {
  return mongodbUrl === undefined
    ? openLmdbStandingsStore(dataDir, environment)
    : openMongoStandingsStore(mongodbUrl, environment);
}

/** The subgraph on a store, which it closes with itself. `now` tells the time that decides the current membership year. */
export function createStandings(
  store: StandingsStore,
  now: () => Date = () => new Date(),
): Subgraph {
  const typeDefs = parse(readFileSync(join(import.meta.dirname, '../schema.graphql'), 'utf8'));
  const schema = buildSubgraphSchema([{ typeDefs, resolvers: createResolvers(store, now) }]);
  return { name: 'standings', schema, ready: store.ready, close: store.close };
}
