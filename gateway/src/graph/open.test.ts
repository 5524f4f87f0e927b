// What a gateway starts with: the newest graph, or the last one that it could serve.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { LogFields } from '@partner-loyalty/runtime/observe/fields.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import { createDocuments } from '../document/documents.ts';
import { graphOf, SUPERGRAPH_FILE } from './committed.ts';
import type { Graph } from './graph.ts';
import { openGraphs } from './open.ts';
import { writeLastGraph } from './source.ts';

const GRAPH = graphOf(readFileSync(SUPERGRAPH_FILE, 'utf8'));
/** A subgraph of another team, whose address this gateway does not have. */
const OFFERS = { name: 'offers', batching: false, codes: [] };

let folder: Folder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const CARRIED: Transport = {
  execute: () => ({ data: null }),
  ready: async () => {},
  close: async () => {},
};

/** Opens the graphs of a gateway for which version 3 is the newest. */
async function open({
  dataDir = folder.path,
  subgraphs = GRAPH.subgraphs,
  supergraphs = [],
  offersSince = 1,
  unreadable,
}: {
  dataDir?: string;
  subgraphs?: Graph['subgraphs'];
  /** The supergraphs of the versions, the newest first. */
  supergraphs?: readonly string[];
  /** The first version that has subgraphs of other teams. */
  offersSince?: number;
  unreadable?: number;
} = {}) {
  const published = { schemas: {}, publishedAt: new Date(), change: 'publish offers', changes: [] };
  const found = (version: number) => {
    if (version === unreadable) throw new Error('the store is away');
    const supergraph = supergraphs[3 - version] ?? GRAPH.supergraph;
    const has = version < offersSince ? GRAPH.subgraphs : subgraphs;
    return { ...GRAPH, ...published, version, subgraphs: has, supergraph };
  };
  const caches = createCaches();
  const metrics = createMetrics();
  const opened: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const closeIt of opened.splice(0).reverse()) await closeIt();
  };
  const errors: LogFields[] = [];
  const env = { SUBGRAPH_SECRET: 'a secret of this test', DATA_DIR: dataDir };
  try {
    const graphs = await openGraphs({
      settings: readSettings(env, 'gateway'),
      store: {
        latest: async () => 3,
        version: async (version) => found(version),
        tables: () => Promise.reject(new Error('this gateway needs none')),
      },
      inProcess: { gateway: CARRIED },
      documents: createDocuments(caches, { documentCache: () => {} }),
      lifecycle: { opened: (_, closeIt) => void opened.push(closeIt) },
      caches,
      log: { ...createLog('silent'), error: (fields) => void errors.push(fields) },
      metrics,
    });
    return { version: graphs.current().version, errors, metrics: await metrics.text() };
  } finally {
    await close();
  }
}

test('a folder that cannot be written does not stop the start', async () => {
  const dataDir = join(folder.path, 'a-file');
  writeFileSync(dataDir, '');
  expect(await open({ dataDir })).toMatchObject({ version: 3, errors: [] });
});

test('a newest graph that cannot be served is refused, as one that is published later', async () => {
  await writeLastGraph(folder.path, { ...GRAPH, version: 2 });
  const { version, errors, metrics } = await open({ subgraphs: [...GRAPH.subgraphs, OFFERS] });
  expect(version).toBe(2);
  expect(errors).toEqual([
    {
      version: 3,
      reason: expect.stringContaining('OFFERS_URL must be set'),
      err: expect.any(Error),
    },
  ]);
  expect(metrics).toContain('supergraph_updates_total{outcome="refused"} 1');
});

test('without an earlier graph, the start fails with what is missing and what to do', async () => {
  await expect(open({ subgraphs: [...GRAPH.subgraphs, OFFERS] })).rejects.toThrow(
    /OFFERS_URL must be set[\s\S]*Version 3 of the graph.*loyalty supergraph rollback/,
  );
});

test('a missing setting stops the start by name, whatever older version does without it', async () => {
  const subgraphs = [...GRAPH.subgraphs, OFFERS];
  await expect(open({ subgraphs, offersSince: 2 })).rejects.toThrow('OFFERS_URL must be set');
});

describe('versions that no gateway can serve', () => {
  const NO_SDL = 'type Query { a: Int @deprecated';
  const NO_SUPERGRAPH = 'type Query { a: Int }';
  const OTHER_TYPE = GRAPH.supergraph.replace('type Query', 'type Query implements Nothing');

  test('keep no new gateway from starting: it serves the newest that it can', async () => {
    const { version, errors } = await open({ supergraphs: [NO_SDL, OTHER_TYPE] });
    expect(version).toBe(1);
    expect(errors.map((each) => each.version)).toEqual([3, 2]);
  });

  test('are named when the store cannot read an earlier one', async () => {
    const refused = open({ supergraphs: [NO_SUPERGRAPH], unreadable: 2 });
    await expect(refused).rejects.not.toThrow('the store is away');
  });

  test('leave the committed graph if there is no other', async () => {
    const { version, errors } = await open({ supergraphs: [OTHER_TYPE, NO_SUPERGRAPH, NO_SDL] });
    expect([version, errors.length]).toEqual([0, 3]);
  });
});
