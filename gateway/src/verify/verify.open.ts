// Verifies the gateway's stores: partners and keys, published graphs, and usage.
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { verifyLmdbGraphs, verifyLmdbKeys, verifyLmdbUsage } from './verify.lmdb.ts';

type Verify = (
  settings: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>,
  inspection: Inspection,
) => Promise<number>;

// MongoDB's driver takes a while to load, and is needed only for some settings.
const onMongo = () => import('./verify.mongo.ts');

/** Each of these reports what is wrong with a store, and resolves with the number of records. */
export const verifyKeys: Verify = async ({ mongodbUrl, dataDir, environment }, inspection) =>
  mongodbUrl === undefined
    ? verifyLmdbKeys(dataDir, environment, inspection)
    : (await onMongo()).verifyMongoKeys(mongodbUrl, environment, inspection);

export const verifyGraphs: Verify = async ({ mongodbUrl, dataDir, environment }, inspection) =>
  mongodbUrl === undefined
    ? verifyLmdbGraphs(dataDir, environment, inspection)
    : (await onMongo()).verifyMongoGraphs(mongodbUrl, environment, inspection);

export const verifyUsage: Verify = async ({ mongodbUrl, dataDir, environment }, inspection) =>
  mongodbUrl === undefined
    ? verifyLmdbUsage(dataDir, environment, inspection)
    : (await onMongo()).verifyMongoUsage(mongodbUrl, environment);
