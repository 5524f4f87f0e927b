// The public list of the members subgraph.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSubgraphSchema } from '@apollo/subgraph';
import type { Settings, Subgraph } from '@partner-loyalty/runtime';
import { parse } from 'graphql';
import { createResolvers } from './resolvers.ts';
import { openLmdbMembersStore } from './store.lmdb.ts';
import { openMongoMembersStore } from './store.mongo.ts';
import type { MembersStore } from './store.ts';

export { canonicalEmail } from './email.ts';
export { LENGTHS, optionalText, storedAddress, text } from './input.ts';
export type { Address, Enrolled, EnrollInput, Enrollment, Identity, Imported, Member, MemberRecord, MembersStore } from './store.ts';

/** Opens the members store: on MongoDB where the settings name one, else embedded. Throws where it cannot be had or belongs to the other environment. */
export function openMembersStore({
  mongodbUrl,
  dataDir,
  environment,
}: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>): Promise<MembersStore> {
  return mongodbUrl === undefined ? openLmdbMembersStore(dataDir, environment) : openMongoMembersStore(mongodbUrl, environment);
}

/** The subgraph on a store, which it closes with itself. */
export function createMembers(store: MembersStore): Subgraph {
  const typeDefs = parse(readFileSync(join(import.meta.dirname, '../schema.graphql'), 'utf8'));
  const schema = buildSubgraphSchema([{ typeDefs, resolvers: createResolvers(store) }]);
  return { name: 'members', schema, ready: store.ready, close: store.close };
}
