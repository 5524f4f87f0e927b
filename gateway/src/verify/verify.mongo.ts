// Verifies the gateway's stores on MongoDB.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { withMongo } from '@partner-loyalty/runtime/store/mongo.ts';
import { walk } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';

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
