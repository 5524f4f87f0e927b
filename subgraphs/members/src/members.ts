// The members subgraph: its schema on a store, and the mail worker beside it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSubgraphSchema } from '@apollo/subgraph';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Subgraph } from '@partner-loyalty/runtime/subgraph/types.ts';
import { parse } from 'graphql';
import { createInbox } from './mail/inbox.ts';
import { domainOf, openMailer } from './mail/mailer.ts';
import { startMailWorker } from './mail/worker.ts';
import type { MembersExtension } from './ports.ts';
import { createEnqueueMail } from './resolvers/mail.ts';
import { createResolvers, type MembersOptions } from './resolvers/resolvers.ts';
import { ensureSigningKey } from './signingkeys/signingkey.ts';
import type { MembersStore } from './store/store.ts';

/**
 * The subgraph on a store; closing it closes the store. It puts mail into the outbox and calls
 * `wake`; a mail worker sends it.
 */
export function createMembers(store: MembersStore, options: MembersOptions): Subgraph {
  const typeDefs = parse(readFileSync(join(import.meta.dirname, '../schema.graphql'), 'utf8'));
  const resolvers = createResolvers(store, options);
  const schema = buildSubgraphSchema([{ typeDefs, resolvers }]);
  const { forward } = options;
  return { name: 'members', schema, forward, ready: store.ready, close: store.close };
}

/**
 * Starts the subgraph with a mail worker and its extensions, and creates the signing keys if there
 * are none. Closing it waits for mail in progress and for extensions, then closes the store.
 */
export async function startMembers(
  store: MembersStore,
  settings: Settings,
  {
    log,
    metrics,
    extensions = [],
  }: { log: Log; metrics: Metrics; extensions?: readonly MembersExtension[] },
): Promise<Subgraph> {
  const { environment, sandboxUrl, productionUrl, mailFrom } = settings;
  warnOfPlainKeys(settings, log);
  const baseAddress = environment === 'sandbox' ? sandboxUrl : productionUrl;
  await ensureSigningKey(store.signingKeys);
  // For `loyalty tokens issue` in another shell, which may not have this process's settings.
  if ((await store.signingKeys.issuer()) !== baseAddress)
    await store.signingKeys.setIssuer(baseAddress);
  const inbox = environment === 'sandbox' ? createInbox(store) : undefined;
  const mailer = openMailer(settings);
  const sender = { store, mailer, baseAddress, mailDomain: domainOf(mailFrom), inbox };
  const worker = startMailWorker(sender, { log, metrics });
  const { wake } = worker;
  const enqueueMail = createEnqueueMail(store, wake);
  const core = { store, settings, issuer: baseAddress, log, metrics, enqueueMail, wake, inbox };
  const [provider] = extensions.map(({ openProvider }) => openProvider(core));
  const close = async () => {
    await Promise.all([worker.stop(), provider?.close?.()]);
    await store.close();
  };
  return { ...createMembers(store, { baseAddress, wake, inbox, ...provider }), close };
}

function warnOfPlainKeys(settings: Settings, log: Log): void {
  const { environment, idTokenIssuer, keyEncryptionKey } = settings;
  if (environment === 'production' && idTokenIssuer === undefined && keyEncryptionKey === undefined)
    log.warn(
      { reason: 'KEY_ENCRYPTION_KEY is not set' },
      'private signing keys are stored without encryption',
    );
}
