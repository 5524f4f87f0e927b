// Opens stores on the engine that the settings select.
import type { Environment } from '../environment.ts';
import type { Settings } from '../settings/table.ts';

export type StoreSettings = Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>;

/** Opens a store of one engine; `place` is a data folder, or the URL of a database. */
type OpenIn<Args extends unknown[], T> = (
  place: string,
  environment: Environment,
  ...args: Args
) => Promise<T>;

/**
 * Returns a function that opens a store on MongoDB if the settings name one, and the embedded store
 * otherwise. It rejects if the store cannot be opened or belongs to the other environment. `lmdb`
 * and `mongo` import the engines, which take a while to load: only the selected one is.
 */
export function openByEngine<T, Args extends unknown[] = []>(engines: {
  lmdb(): Promise<OpenIn<Args, T>>;
  mongo(): Promise<OpenIn<Args, T>>;
}): (settings: StoreSettings, ...args: Args) => Promise<T> {
  return async ({ mongodbUrl, dataDir, environment }, ...args) => {
    const open = await (mongodbUrl === undefined ? engines.lmdb() : engines.mongo());
    return open(mongodbUrl ?? dataDir, environment, ...args);
  };
}
