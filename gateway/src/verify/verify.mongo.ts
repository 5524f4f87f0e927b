// Verifies the gateway's stores on MongoDB. A partner and its keys are one document.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { withMongo } from '@partner-loyalty/runtime/store/mongo.ts';
import { walk } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import { checkShape, KEY, PARTNER } from './shapes.ts';

/** Reports what is wrong with the partners and keys. Resolves with the number of both. */
export function verifyMongoKeys(
  url: string,
  environment: Environment,
  { report }: Inspection,
): Promise<number> {
  return withMongo(url, 'keys', environment, async (db) => {
    let count = 0;
    for await (const partner of walk(db.collection<{ _id: string }>('partners'))) {
      const { _id: partnerId, keys = [] } = partner as { _id: string; keys?: { keyId?: string }[] };
      count += 1 + keys.length;
      checkShape(PARTNER, partner, (problem) => report(`partner ${partnerId}`, problem));
      for (const key of keys)
        checkShape(KEY, key, (problem) =>
          report(`key ${key.keyId} of partner ${partnerId}`, problem),
        );
    }
    return count;
  });
}

/** Reports what is wrong with the published graphs. Resolves with their number. */
export function verifyMongoGraphs(
  url: string,
  environment: Environment,
  { report }: Inspection,
): Promise<number> {
  return withMongo(url, 'graph', environment, async (db) => {
    let count = 0;
    const graphs = db.collection<{ _id: number }>('graphs');
    for await (const { _id: version } of walk(graphs, { projection: { _id: 1 } }))
      for (count += 1; count < version; count += 1)
        report(`graph ${count}`, 'the version is missing');
    return count;
  });
}
