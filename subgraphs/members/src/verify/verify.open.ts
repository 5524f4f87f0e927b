// Verifies the members store: every record, and what leads from one record to another.
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { verifyLmdbMembers } from './verify.lmdb.ts';

/** Reports what is wrong with the store. Resolves with the number of members. */
export async function verifyMembers(
  { mongodbUrl, dataDir, environment }: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>,
  inspection: Inspection,
): Promise<number> {
  if (mongodbUrl === undefined) return verifyLmdbMembers(dataDir, environment, inspection);
  // The driver takes a while to load, and is needed only here.
  const { verifyMongoMembers } = await import('./verify.mongo.ts');
  return verifyMongoMembers(mongodbUrl, environment, inspection);
}
