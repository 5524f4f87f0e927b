// Opens an embedded store: an LMDB database in a folder, owned by one environment.
import { open, type RootDatabase } from 'lmdb';
import { type Environment, refuseForeignStore } from '../environment.ts';
import { makePrivateFolder, PRIVATE_FILE, restrictFiles } from './private.ts';

/**
 * Opens `dataDir/name`, and creates it if it does not exist. Several processes of a machine may
 * have it open. Only its owner may read it. Throws if the store belongs to the other environment or
 * the folder is not writable.
 */
export async function openLmdb(
  dataDir: string,
  name: string,
  environment: Environment,
): Promise<RootDatabase> {
  const path = makePrivateFolder(dataDir, name);
  // With overlapping syncs, killing a process during one makes the next commit of another panic.
  // lmdb reads `permissionsMode`, but its types do not have it.
  const options = { path, maxDbs: 16, overlappingSync: false, permissionsMode: PRIVATE_FILE };
  const root = open(options);
  restrictFiles(path); // A umask may have taken more from the new files.
  try {
    const owner = await root.transaction(() => {
      const known: string | undefined = root.get('environment');
      if (known === undefined) root.put('environment', environment);
      return known ?? environment;
    });
    refuseForeignStore(name, owner, environment);
    return root;
  } catch (error) {
    await root.close();
    throw error;
  }
}
