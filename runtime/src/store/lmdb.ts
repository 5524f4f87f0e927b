// Opens an embedded store: an LMDB database in a folder, owned by one environment.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { type Environment, refuseForeignStore } from '../environment.ts';

/**
 * Opens `dataDir/name`, and creates it if it does not exist. Several processes of a machine may
 * have it open. Throws if the store belongs to the other environment or the folder is not writable.
 */
export async function openLmdb(
  dataDir: string,
  name: string,
  environment: Environment,
): Promise<RootDatabase> {
  const path = join(dataDir, name);
  mkdirSync(path, { recursive: true });
  // With overlapping syncs, killing a process during one makes the next commit of another panic.
  const root = open({ path, maxDbs: 16, overlappingSync: false });
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
