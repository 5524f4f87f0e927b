// Verifies the standings store on the engine that the settings select.
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { verifyLmdbStandings } from './verify.lmdb.ts';

/** Reports what is wrong with the store. Resolves with the number of activities. */
export async function verifyStandings(
  { mongodbUrl, dataDir, environment }: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>,
  inspection: Inspection,
): Promise<number> {
  if (mongodbUrl === undefined) return verifyLmdbStandings(dataDir, environment, inspection);
  // The driver takes a while to load, and is needed only here.
  const { verifyMongoStandings } = await import('./verify.mongo.ts');
  return verifyMongoStandings(mongodbUrl, environment, inspection);
}
