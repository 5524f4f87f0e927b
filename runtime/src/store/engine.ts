// Where the stores are: what an engine is selected by.
import type { Settings } from '../settings/table.ts';

export type StoreSettings = Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>;
