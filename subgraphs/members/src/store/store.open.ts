// Opens the members store on the engine that the settings choose.
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { createKeyVault } from '../signingkeys/keyvault.ts';
import { openLmdbMembersStore } from './store.lmdb.ts';
import type { MembersStore } from './store.ts';

/**
 * Opens the store on MongoDB if the settings name one, otherwise the embedded store. Throws if it
 * cannot be opened or belongs to the other environment.
 */
export async function openMembersStore({
  mongodbUrl,
  dataDir,
  environment,
  keyEncryptionKey,
}: Pick<
  Settings,
  'mongodbUrl' | 'dataDir' | 'environment' | 'keyEncryptionKey'
>): Promise<MembersStore> {
  const vault = createKeyVault(keyEncryptionKey);
  if (mongodbUrl === undefined) return openLmdbMembersStore(dataDir, environment, vault);
  // The driver takes a while to load, and is needed only here.
  const { openMongoMembersStore } = await import('./store.mongo.ts');
  return openMongoMembersStore(mongodbUrl, environment, vault, dataDir);
}
