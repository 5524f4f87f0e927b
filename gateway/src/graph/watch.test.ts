// The source of graphs is followed: what cannot be read or built is logged, counted, tried again.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LogFields } from '@partner-loyalty/runtime/observe/fields.ts';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { graphOf, SUPERGRAPH_FILE } from './committed.ts';
import type { Graph } from './graph.ts';
import type { ServedGraph } from './served.ts';
import { createGraphSource, type GraphSource, UnreadableFile } from './source.ts';
import { watchGraphs } from './watch.ts';

const COMMITTED = readFileSync(SUPERGRAPH_FILE, 'utf8');

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** Follows what `next` returns; all versions are published. Some cannot be built. */
function follow(next: GraphSource['next'], refused?: Graph) {
  let current = 1;
  const lines: string[] = [];
  const counts: string[] = [];
  const tried: number[] = [];
  const unbuildable = new Set<number>();
  const write = ({ version, reason }: LogFields, message: string) =>
    void lines.push([message, version, reason].filter((part) => part !== undefined).join(' '));
  const { stop } = watchGraphs(
    {
      async replace({ version }) {
        tried.push(version);
        if (unbuildable.has(version)) throw new Error('no secret');
        current = version;
      },
      // Cast: nothing else is read.
      current: () => ({ version: current }) as ServedGraph,
    },
    {
      first: next as GraphSource['first'],
      before: async (graph) => version(graph.version - 1),
      next,
      serves: async () => {},
    },
    {
      log: { info: write, warn: write, error: write, outage: write, recovered: write },
      metrics: { graph: (outcome) => void counts.push(outcome) },
      refused,
    },
  );
  const pass = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * 1_000);
  return { lines, counts, tried, unbuildable, pass, stop };
}

const version = (number: number): Graph => ({ version: number, supergraph: '', subgraphs: [] });

test('a graph that cannot be built is tried again every minute, until it can or a newer one serves', async () => {
  const published = [version(2)];
  const watched = follow(async () => published.shift());
  watched.unbuildable.add(2).add(3);
  await watched.pass(59);
  expect(watched.tried).toEqual([2]);
  await watched.pass(61);
  expect(watched.tried).toEqual([2, 2]);
  watched.unbuildable.delete(2);
  await watched.pass(60);
  expect(watched.counts).toEqual(['refused', 'refused', 'updated']);
  const refusal = 'a new graph cannot be served 2 no secret';
  expect(watched.lines).toEqual([refusal, refusal, 'a new graph serves 2']);
  published.push(version(3), version(4));
  await watched.pass(180);
  expect(watched.tried).toEqual([2, 2, 2, 3, 4]);
  watched.stop();
});

test('of several new graphs, the newest that can be built serves, and the others are skipped', async () => {
  const published = [version(6)];
  const watched = follow(async () => published.shift());
  watched.unbuildable.add(6).add(5).add(3);
  await watched.pass(5);
  expect(watched.tried).toEqual([6, 5, 4]);
  expect(watched.lines.slice(-2)).toEqual([
    'a new graph cannot be served 5 no secret',
    'a new graph serves 4',
  ]);
  await watched.pass(60);
  expect(watched.tried).toEqual([6, 5, 4, 6]);
  published.push(version(7));
  await watched.pass(120);
  expect(watched.tried).toEqual([6, 5, 4, 6, 7]);
  watched.stop();
});

test('a graph that was refused at the start is tried again too', async () => {
  const watched = follow(async () => undefined, version(7));
  await watched.pass(59);
  expect(watched.tried).toEqual([]);
  await watched.pass(2);
  expect([watched.tried, watched.counts]).toEqual([[7], ['updated']]);
  watched.stop();
});

test('a source that cannot be read is an outage until it can', async () => {
  let fault: Error | undefined = new UnreadableFile('Syntax Error');
  const watched = follow(async () => {
    if (fault !== undefined) throw fault;
    return undefined;
  });
  await watched.pass(3);
  fault = undefined;
  await watched.pass(3);
  const away = 'the source of graphs is unavailable Syntax Error';
  expect(watched.lines).toEqual([away, away, away, 'the source of graphs is available again']);
  expect(watched.counts).toEqual(['unreadable', 'unreadable', 'unreadable']);
  watched.stop();
});

test('a file that is no supergraph stays unreadable until it is replaced', async () => {
  jest.useRealTimers();
  const { path, remove } = temporaryFolder();
  const supergraphFile = join(path, 'supergraph.graphql');
  writeFileSync(supergraphFile, COMMITTED);
  const store = { latest: async () => 0, version: async () => undefined };
  const source = createGraphSource({ supergraphFile, dataDir: path }, store, { outage() {} });
  expect(await source.first()).toEqual(graphOf(COMMITTED));
  for (const text of ['type Query { a: Int }', 'type {']) {
    writeFileSync(supergraphFile, text);
    for (const _ of [1, 2]) await expect(source.next()).rejects.toThrow(UnreadableFile);
  }
  writeFileSync(supergraphFile, COMMITTED);
  expect(await source.next()).toBeUndefined();
  remove();
  await expect(source.next()).rejects.toThrow(UnreadableFile);
});
