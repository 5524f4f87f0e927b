// The public list of the members subgraph.
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { openByEngine, type StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { createKeyVault, type KeyVault } from './signingkeys/signingkey.ts';
import type { MembersStore } from './store/store.ts';

export { createMembers, startMembers } from './members.ts';
export { LENGTHS } from './resolvers/input.ts';
export { canonicalEmail } from './rules/email.ts';
export type { Address, Identity, ImportResult, Member, MemberImport } from './rules/member.ts';
export { endingSessions } from './signingkeys/endedsessions.ts';
export { issueIdToken } from './signingkeys/idtoken.ts';
export { ensureSigningKey, revokeSigningKey, rotateSigningKey } from './signingkeys/signingkey.ts';
export type { MembersStore } from './store/store.ts';

const openStore = openByEngine<MembersStore, [KeyVault, string]>({
  lmdb: async () => (await import('./store/store.lmdb.ts')).openLmdbMembersStore,
  mongo: async () => (await import('./store/store.mongo.ts')).openMongoMembersStore,
});

export function openMembersStore(
  settings: StoreSettings & Pick<Settings, 'keyEncryptionKey'>,
): Promise<MembersStore> {
  return openStore(settings, createKeyVault(settings.keyEncryptionKey), settings.dataDir);
}

/** Reports what is wrong with the store. Resolves with the number of members. */
export const verifyMembers = openByEngine<number, [Inspection]>({
  lmdb: async () => (await import('./verify/verify.lmdb.ts')).verifyLmdbMembers,
  mongo: async () => (await import('./verify/verify.mongo.ts')).verifyMongoMembers,
});
