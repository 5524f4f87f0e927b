// Opens an embedded store: one LMDB environment in a folder, owned by the environment that first wrote to it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { type Environment, refuseForeignStore } from '../environment.ts';

/**
 * Opens `dataDir/name`, creating it where it is missing. Several processes of one machine may have it open.
 * Throws where the store belongs to the other environment, or the folder cannot be written.
 */
export async function openLmdb(
  dataDir: string,
  name: string,
  environment: Environment,
): Promise<RootDatabase> {
  const path = join(dataDir, name);
  mkdirSync(path, { recursive: true });
  // With overlapping syncs, a process that is killed in one leaves the others' next commit to panic.
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
