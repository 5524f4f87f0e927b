// The public list of the members subgraph.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSubgraphSchema } from '@apollo/subgraph';
import type { Log, Metrics, Settings, Subgraph } from '@partner-loyalty/runtime';
import { parse } from 'graphql';
import { openMailer } from './mail/mailer.ts';
import { startMailWorker } from './mail/worker.ts';
import { createSignInResolvers, type MembersOptions } from './resolvers.signin.ts';
import { createResolvers } from './resolvers.ts';
import type { SubgraphResolvers } from './schema.generated.ts';
import { ensureSigningKey } from './signingkeys/signingkey.ts';
import { openLmdbMembersStore } from './store/store.lmdb.ts';
import { openMongoMembersStore } from './store/store.mongo.ts';
import type { MembersStore } from './store/store.ts';

export { canonicalEmail } from './email.ts';
export { LENGTHS, parseAddress, parseOptionalText, parseText } from './input.ts';
export type { MailPartner } from './outbox/partner.ts';
export type { MembersOptions } from './resolvers.signin.ts';
export { type IdToken, type IdTokenClaims, issueIdToken } from './signingkeys/idtoken.ts';
export { ensureSigningKey, rotateSigningKey } from './signingkeys/signingkey.ts';
export type {
  Address,
  EnrollInput,
  Enrollment,
  EnrollResult,
  Identity,
  ImportResult,
  Member,
  MemberImport,
  MembersStore,
} from './store/store.ts';

/** Opens the members store: on MongoDB where the settings name one, else embedded. Throws where it cannot be had or belongs to the other environment. */
export function openMembersStore({
  mongodbUrl,
  dataDir,
  environment,
}: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>): Promise<MembersStore> {
  return mongodbUrl === undefined
    ? openLmdbMembersStore(dataDir, environment)
    : openMongoMembersStore(mongodbUrl, environment);
}

/** The subgraph on a store, which it closes with itself. Mail that it promises is left to a courier, whom `wake` calls. */
export function createMembers(store: MembersStore, parts: MembersOptions): Subgraph {
  const typeDefs = parse(readFileSync(join(import.meta.dirname, '../schema.graphql'), 'utf8'));
  const reads = createResolvers(store);
  const signIn = createSignInResolvers(store, parts);
  const resolvers: SubgraphResolvers = {
    ...reads,
    Query: { ...reads.Query, ...signIn.Query },
    Mutation: { ...reads.Mutation, ...signIn.Mutation },
  };
  const schema = buildSubgraphSchema([{ typeDefs, resolvers }]);
  return { name: 'members', schema, ready: store.ready, close: store.close };
}

/**
 * The subgraph with all that works for it: makes the signing keys where there are none, and sends mail beside the requests.
 * Closing it waits for the mail under way, then closes the store.
 */
export async function startMembers(
  store: MembersStore,
  settings: Pick<
    Settings,
    'environment' | 'sandboxUrl' | 'productionUrl' | 'smtpUrl' | 'mailFrom' | 'dataDir'
  >,
  { log, metrics }: { log: Log; metrics: Metrics },
): Promise<Subgraph> {
  const { environment, sandboxUrl, productionUrl, mailFrom } = settings;
  const baseAddress = environment === 'sandbox' ? sandboxUrl : productionUrl;
  await ensureSigningKey(store.signingKeys);
  const mailDomain = /@([^@>]+)>?$/.exec(mailFrom)?.[1] ?? 'localhost';
  const courier = startMailWorker(
    { store, post: openMailer(settings), baseAddress, mailDomain },
    { log, metrics },
  );
  const close = async () => {
    await courier.stop();
    await store.close();
  };
  return { ...createMembers(store, { baseAddress, wake: courier.wake }), close };
}
