// A gateway starts with the newest graph, even if its folder for the last graph cannot be written.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCaches, createLog, createMetrics, readSettings } from '@partner-loyalty/runtime';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { createDocuments } from '../operation/documents.ts';
import { graphOf, SUPERGRAPH_FILE } from './committed.ts';
import { openGraphs } from './open.ts';

test('a folder that cannot be written does not stop the start', async () => {
  const { path, remove } = temporaryFolder();
  const dataDir = join(path, 'a-file');
  writeFileSync(dataDir, '');
  const graph = { ...graphOf(readFileSync(SUPERGRAPH_FILE, 'utf8')), version: 1 };
  const published = { ...graph, schemas: {}, publishedAt: new Date(), change: 'publish members' };
  const caches = createCaches();
  const opened: (() => Promise<unknown>)[] = [];
  const env = { SUBGRAPH_SECRET: 'a secret of this test', DATA_DIR: dataDir };
  const graphs = await openGraphs({
    settings: readSettings(env, 'gateway'),
    store: { latest: async () => 1, version: async () => published },
    carried: {},
    documents: createDocuments(caches, { documentCache: () => {} }),
    lifecycle: { opened: (_, close) => void opened.push(close) },
    caches,
    log: createLog('silent'),
    metrics: createMetrics(),
  });
  expect(graphs.current().version).toBe(1);
  for (const close of opened.reverse()) await close();
  remove();
});
