// The contract of the store of published graphs.
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { openGraphStore } from '../stores.ts';
import type { GraphStore, GraphVersion } from './graph.ts';

const graph = (version: number, more: Partial<GraphVersion> = {}): GraphVersion => ({
  version,
  supergraph: `schema ${version} {}`,
  subgraphs: [
    { name: 'members', batching: true, codes: ['MEMBER_NOT_FOUND'] },
    { name: 'of-fers', url: 'http://offers:4013/graphql', batching: false, codes: [] },
  ],
  schemas: { members: 'type Query { a: Int }', 'of-fers': 'type Query { b: Int }' },
  publishedAt: new Date('2026-03-04T05:06:07.089Z'),
  change: 'publish of-fers',
  changes: [],
  ...more,
});

describe('the graph store', () => {
  let place: { mongodbUrl?: string; dataDir: string };
  let stores: GraphStore[];
  let store: GraphStore;
  let release: () => unknown;

  const open = async (environment: 'sandbox' | 'production' = 'sandbox') => {
    const opened = await openGraphStore({ ...place, environment });
    stores.push(opened);
    return opened;
  };

  beforeEach(async () => {
    ({ settings: place, release } = emptyPlace());
    stores = [];
    store = await open();
  });

  afterEach(async () => {
    for (const each of stores) await each.close();
    await release();
  });

  test('nothing is published at first', async () => {
    expect(await store.latest()).toBe(0);
    expect(await store.versions()).toEqual([]);
    expect(await store.version(0)).toBeUndefined();
    expect(await store.version(1)).toBeUndefined();
  });

  test('versions are kept as they were appended, and listed newest first', async () => {
    // Larger than a page of LMDB, and than what MongoDB sends in one piece.
    const about = {
      ...{ owner: 'Offers Team', tokenId: 'token_1', commit: '4f0c1ab', message: 'é' },
      counts: { breaking: 0, dangerous: 1, safe: 2 },
    };
    const supergraph = 'type T { f: Int }\n'.repeat(60_000);
    const large = graph(2, { supergraph, change: 'é → 2', ...about });
    expect(await store.append(graph(1))).toBe(true);
    expect(await store.append(large)).toBe(true);
    expect(await store.latest()).toBe(2);
    expect(await store.version(1)).toEqual(graph(1));
    expect(await store.version(2)).toEqual(large);
    expect(await store.version(3)).toBeUndefined();
    const { publishedAt } = large;
    expect(await store.versions()).toEqual([
      { version: 2, publishedAt, change: 'é → 2', changes: [], ...about },
      { version: 1, publishedAt, change: 'publish of-fers', changes: [] },
    ]);
  });

  test('only the next version is appended', async () => {
    for (const version of [0, 2, -1]) expect(await store.append(graph(version))).toBe(false);
    await store.append(graph(1));
    expect(await store.append(graph(1, { change: 'other' }))).toBe(false);
    expect(await store.append(graph(3))).toBe(false);
    expect(await store.version(1)).toEqual(graph(1));
    expect(await store.latest()).toBe(1);
  });

  test('of concurrent publishers, one wins each version', async () => {
    const other = await open();
    for (const version of [1, 2, 3]) {
      const tries = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          (i % 2 === 0 ? store : other).append(graph(version, { change: `try ${i}` })),
        ),
      );
      expect(tries.filter(Boolean)).toHaveLength(1);
      expect((await store.version(version))?.change).toBe(`try ${tries.indexOf(true)}`);
      expect(await other.latest()).toBe(version);
    }
  });

  test('what another process appends is seen at once, and stays after closing', async () => {
    const other = await open();
    await store.append(graph(1));
    expect(await other.latest()).toBe(1);
    await store.close();
    await other.close();
    stores = [];
    expect(await (await open()).version(1)).toEqual(graph(1));
  });

  test('the store belongs to the environment that created it', async () => {
    await expect(open('production')).rejects.toThrow(/belongs to the sandbox environment/);
  });
});
