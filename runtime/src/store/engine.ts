// Where the stores are: what an engine is selected by.
import type { Settings } from '../settings/table.ts';
import type { StoreName } from './private.ts';

export type StoreSettings = Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'> & {
  metrics?: { storeRetry(store: StoreName): void };
};
