// The store of published graphs on MongoDB: a document for each version.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { isDuplicate, openCollection, openMongo } from '@partner-loyalty/runtime/store/mongo.ts';
import { walk } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import { mongoTables } from '@partner-loyalty/runtime/store/table.mongo.ts';
import type { Collection } from 'mongodb';
import type { GraphStore, GraphVersion, GraphVersionSummary } from './graph.ts';
import { openRegistryTables } from './tables.ts';

type GraphDocument = Omit<GraphVersion, 'version'> & { _id: number };

/**
 * Opens the store in the URL's database. Rejects if the server cannot be reached or the store
 * belongs to the other environment.
 */
export function openMongoGraphStore(url: string, environment: Environment): Promise<GraphStore> {
  return openMongo(url, 'graph', environment, async ({ db, close }) => {
    const graphs = await openCollection<GraphDocument>(db, 'graphs');
    const tables = await openRegistryTables(mongoTables(db));
    return { ...methodsOf(graphs), tables: async () => tables, close };
  });
}

function methodsOf(graphs: Collection<GraphDocument>) {
  const latest = async () =>
    (await graphs.findOne({}, { sort: { _id: -1 }, projection: { _id: 1 } }))?._id ?? 0;
  return {
    latest,
    async version(version) {
      const found = await graphs.findOne({ _id: version });
      if (found === null) return undefined;
      const { _id: number, ...graph } = found;
      return { version: number, ...graph };
    },
    async versions(limit = Number.POSITIVE_INFINITY) {
      const found: GraphVersionSummary[] = [];
      const projection = { supergraph: 0, subgraphs: 0, schemas: 0 } as const;
      const filter = { _id: { $gt: (await latest()) - limit } };
      for await (const { _id, ...rest } of walk(graphs, { projection, filter }))
        found.push({ version: _id, ...rest });
      return found.toReversed();
    },
    async append({ version, ...graph }) {
      // Versions are never removed, so only another insert can come first.
      if (version !== (await latest()) + 1) return false;
      try {
        await graphs.insertOne({ _id: version, ...graph });
        return true;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },
  } satisfies Partial<GraphStore>;
}
