// Empty stores for the operator's command.
import type { Engine } from '../engines.ts';
import { temporaryFolder } from '../folder.ts';
import { freshMongodbUrl } from '../servers/databases.ts';
import type { Env } from './loyalty.ts';

/** The settings of empty stores, and what removes them. */
export function emptyStores(engine: Engine = 'lmdb'): { env: Env; remove(): unknown } {
  if (engine === 'mongodb') {
    const database = freshMongodbUrl();
    return { env: { MONGODB_URL: database.url }, remove: database.drop };
  }
  const folder = temporaryFolder();
  return { env: { DATA_DIR: folder.path }, remove: folder.remove };
}
