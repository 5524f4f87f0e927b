// The public list of the members subgraph.
import { noteErasure } from '@partner-loyalty/runtime/process/erased.open.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import { createKeyVault } from './signingkeys/signingkey.ts';
import { createMembersStore, type MembersStore, openRows } from './store/store.ts';

export { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
export { checkMailServer } from './mail/mailer.ts';
export { createMembers, startMembers } from './members.ts';
export type { MembersExtension } from './ports.ts';
export { LENGTHS } from './resolvers/input.ts';
export type { Address, ImportResult, MemberImport, PartnerMember } from './rules/member.ts';
export { endingSessions } from './signingkeys/endedsessions.ts';
export { issueIdToken } from './signingkeys/idtoken.ts';
export { ensureSigningKey, revokeSigningKey, rotateSigningKey } from './signingkeys/signingkey.ts';
export type { MembersStore } from './store/store.ts';
export { type App, makeClientId, makeSecret } from './tables/apps.ts';
export { verifyMembers } from './verify/verify.ts';

/** Rejects if the store cannot be opened or belongs to the other environment. */
export async function openMembersStore(
  settings: StoreSettings & Pick<Settings, 'keyEncryptionKey'>,
): Promise<MembersStore> {
  const { dataDir, keyEncryptionKey } = settings;
  const store = await openRows(settings);
  try {
    return await createMembersStore(store, {
      vault: createKeyVault(keyEncryptionKey),
      dataDir,
      onErasure: () => noteErasure(settings, 'members'),
    });
  } catch (error) {
    await store.close();
    throw error;
  }
}
