// The public list of the members subgraph.
import { type Log, logProgress } from '@partner-loyalty/runtime/observe/log.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { openByEngine, type StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { createKeyVault, type KeyVault } from './signingkeys/signingkey.ts';
import type { BuildProgress, MembersStore } from './store/store.ts';

export { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
export { checkMailServer } from './mail/mailer.ts';
export { createMembers, startMembers } from './members.ts';
export type { MembersExtension } from './ports.ts';
export { LENGTHS } from './resolvers/input.ts';
export type { Address, Identity, ImportResult, Member, MemberImport } from './rules/member.ts';
export { endingSessions } from './signingkeys/endedsessions.ts';
export { issueIdToken } from './signingkeys/idtoken.ts';
export { ensureSigningKey, revokeSigningKey, rotateSigningKey } from './signingkeys/signingkey.ts';
export type { MembersStore } from './store/store.ts';
export { type App, makeSecret } from './tables/apps.ts';

const openStore = openByEngine<MembersStore, [KeyVault, string, BuildProgress]>({
  lmdb: async () => (await import('./store/store.lmdb.ts')).openLmdbMembersStore,
  mongo: async () => (await import('./store/store.mongo.ts')).openMongoMembersStore,
});

/** Logs its progress while it builds an index that a former version did not have. */
export function openMembersStore(
  settings: StoreSettings & Pick<Settings, 'keyEncryptionKey'>,
  log?: Pick<Log, 'info'>,
): Promise<MembersStore> {
  const vault = createKeyVault(settings.keyEncryptionKey);
  const progress = log && logProgress(log, 'building the lists of members');
  return openStore(settings, vault, settings.dataDir, (...counts) =>
    progress?.('members', ...counts),
  );
}

/** Reports what is wrong with the store. Resolves with the number of members. */
export const verifyMembers = openByEngine<number, [Inspection]>({
  lmdb: async () => (await import('./verify/verify.lmdb.ts')).verifyLmdbMembers,
  mongo: async () => (await import('./verify/verify.mongo.ts')).verifyMongoMembers,
});
