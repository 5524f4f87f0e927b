// Empty stores for the operator's command, on each engine.
import { temporaryFolder } from '../folder.ts';
import { freshMongodbUrl } from '../servers/databases.ts';
import type { Env } from './loyalty.ts';

/** By the name of the engine, the settings of stores of its own, and what removes them. */
export const EMPTY_STORES: [engine: string, open: () => { env: Env; remove(): unknown }][] = [
  [
    'the embedded store',
    () => {
      const folder = temporaryFolder();
      return { env: { DATA_DIR: folder.path }, remove: folder.remove };
    },
  ],
  [
    'MongoDB',
    () => {
      const database = freshMongodbUrl();
      return { env: { MONGODB_URL: database.url }, remove: database.drop };
    },
  ],
];
