// The graph that a gateway serves: read, kept, watched.

import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { LogFields } from '@partner-loyalty/runtime/observe/fields.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { codesOf } from '../../../test/support/codes.ts';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import { startSubgraph } from '../../../test/support/graphs/graph.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { until } from '../../../test/support/until.ts';
import { parseDocument } from '../document/document.ts';
import { createDocuments } from '../document/documents.ts';
import { openGraphStore } from '../stores.ts';
import { graphOf, SUPERGRAPH_CONFIG, SUPERGRAPH_FILE } from './committed.ts';
import { readSupergraphConfig } from './config.ts';
import { createConnections } from './connections.ts';
import type { Graph, GraphStore, GraphVersion } from './graph.ts';
import { openGraphs } from './open.ts';
import { dropOldSecret, type OpenSecrets, openSecrets, rotateSecret } from './secrets.ts';
import { prepareAhead, type ServedGraph, serveGraphs } from './served.ts';
import { createGraphSource, type GraphSource, UnreadableFile, writeLastGraph } from './source.ts';
import type { RegistryTables } from './tables.ts';
import { watchGraphs } from './watch.ts';

// Reads supergraph.yaml: the committed one, and wrong ones.
describe('config', () => {
  const folder = temporaryFolder();
  const file = join(folder.path, 'supergraph.yaml');
  afterAll(folder.remove);

  test('the committed file has the subgraphs of this repository, with the codes of their errors', () => {
    const configured = readSupergraphConfig(SUPERGRAPH_CONFIG);
    expect(configured.map(({ name, batching }) => [name, batching])).toEqual([
      ['gateway', false],
      ['members', true],
      ['standings', true],
    ]);
    for (const { name, codes } of configured)
      if (name !== 'gateway') expect([...codes].sort()).toEqual(codesOf(name).sort());
  });

  test('what is left out is off, and schemas are beside the file', () => {
    writeFileSync(file, 'subgraphs: { offers: { schema: { file: ./offers.graphql } } }');
    expect(readSupergraphConfig(file)).toEqual([
      {
        name: 'offers',
        batching: false,
        codes: [],
        schemaFile: join(folder.path, 'offers.graphql'),
      },
    ]);
  });

  const offers = (more: string) =>
    `subgraphs: { offers: { schema: { file: a.graphql }, ${more} } }`;
  test.each([
    ['no subgraphs', 'federation_version: 2', 'subgraphs is missing'],
    [
      'no schema',
      'subgraphs: { offers: { batching: true } }',
      'subgraphs.offers.schema is missing',
    ],
    ['a misspelt option', offers('batch: true'), 'unknown property "batch" in subgraphs.offers'],
    ['a code that masks errors', offers('codes: [INTERNAL_SERVER_ERROR]'), 'must not be a code'],
    ['a code in lower case', offers('codes: [expired]'), 'must have 1 to 64 capital letters'],
    ['a name in upper case', 'subgraphs: { Offers: { schema: { file: a.graphql } } }', 'Offers'],
  ])('%s is refused', (_what, yaml, message) => {
    writeFileSync(file, yaml);
    expect(() => readSupergraphConfig(file)).toThrow(message);
  });
});

// The contract of the store of published graphs.

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

  test('versions are kept as they were appended, each after the one before, and listed newest first', async () => {
    // Larger than a page of LMDB, and than what MongoDB sends in one piece.
    const about = {
      ...{ owner: 'Offers Team', tokenId: 'token_1', commit: '4f0c1ab', message: 'é' },
      counts: { breaking: 0, dangerous: 1, safe: 2 },
      took: { ms: 6_000, approvedMs: 5_500 },
    };
    const supergraph = 'type T { f: Int }\n'.repeat(60_000);
    const large = graph(2, { supergraph, change: 'é → 2', ...about });
    expect([await store.latest(), await store.versions(9)]).toEqual([0, []]);
    for (const version of [0, 2, -1]) expect(await store.append(graph(version))).toBe(false);
    expect(await store.append(graph(1))).toBe(true);
    expect(await store.append(graph(1, { change: 'other' }))).toBe(false);
    expect(await store.append(large)).toBe(true);
    expect(await store.latest()).toBe(2);
    expect(await store.version(1)).toEqual(graph(1));
    expect(await store.version(2)).toEqual(large);
    expect(await store.version(3)).toBeUndefined();
    const { publishedAt } = large;
    const second = { version: 2, publishedAt, change: 'é → 2', ...about };
    const first = { version: 1, publishedAt, change: 'publish of-fers' };
    expect(await store.history()).toEqual([second, first]);
    const all = [second, first].map((entry) => ({ ...entry, changes: [] }));
    expect(await store.versions(9)).toEqual(all);
    expect(await store.versions(1)).toEqual(all.slice(0, 1));
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
});

// What a gateway starts with: the newest graph, or the last one that it could serve.
describe('open', () => {
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
    const published = {
      schemas: {},
      publishedAt: new Date(),
      change: 'publish offers',
      changes: [],
    };
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

  test('a missing setting stops the start with its name and what to do, whatever older version does without it', async () => {
    const subgraphs = [...GRAPH.subgraphs, OFFERS];
    for (const offersSince of [1, 2])
      await expect(open({ subgraphs, offersSince })).rejects.toThrow(
        /OFFERS_URL must be set[\s\S]*Version 3 of the graph.*loyalty supergraph rollback/,
      );
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

    test('leave the committed graph if there is no other', async () => {
      const { version, errors } = await open({ supergraphs: [OTHER_TYPE, NO_SUPERGRAPH, NO_SDL] });
      expect([version, errors.length]).toEqual([0, 3]);
    });
  });
});

// The stored secrets of subgraphs of the graph store.
describe('secrets', () => {
  const SETTINGS = {
    environment: 'production',
    keyEncryptionKey: randomBytes(32).toString('base64'),
  } as const;
  const MINUTE = 60_000;
  const HOUR = 60 * MINUTE;
  const log = createLog('silent');

  describe('the secret of a subgraph', () => {
    let store: GraphStore;
    let table: RegistryTables['secrets'];
    let release: () => unknown;
    let now = 0;
    beforeEach(async () => {
      const place = emptyPlace();
      release = place.release;
      store = await openGraphStore({ ...place.settings, environment: 'production' });
      table = (await store.tables()).secrets;
      now = Date.UTC(2030, 0, 1);
    });
    afterEach(async () => {
      await store.close();
      await release();
    });

    const rotate = async () => {
      const secret = await rotateSecret(table, SETTINGS, 'offers', now);
      if (secret === undefined) throw new Error('the settings have a key');
      return secret;
    };
    /** The secrets as a gateway has them after its next read. */
    const gateway = async () => {
      const secrets = openSecrets('offers', { store, settings: SETTINGS, log }, () => now);
      await secrets.read();
      return secrets;
    };
    const accept = async (secrets: OpenSecrets, secret: string) => {
      secrets.accepted(secret);
      await secrets.close();
      await secrets.read();
    };
    const order = ({ first, other }: OpenSecrets) => {
      const secret = first();
      return secret === undefined
        ? []
        : [secret, other(secret)].filter((each) => each !== undefined);
    };
    const stored = async () => (await gateway().then(order)).sort();

    test('is made, and stored encrypted', async () => {
      expect(order(await gateway())).toEqual([]);
      const secret = await rotate();
      expect(secret).toMatch(/^ss_.{44}$/);
      expect(order(await gateway())).toEqual([secret]);
      expect(JSON.stringify(await table.select(() => true))).not.toContain(secret.slice(3, 20));
    });

    test('is refused in production without a key, and is none with another key', async () => {
      const settings = { environment: 'production' } as const;
      expect(await rotateSecret(table, settings, 'offers')).toBeUndefined();
      await rotate();
      for (const keyEncryptionKey of [undefined, randomBytes(32).toString('base64')]) {
        const reasons: unknown[] = [];
        const outage = ({ reason }: { reason?: unknown }) => void reasons.push(reason);
        const other = { environment: 'production', keyEncryptionKey } as const;
        const secrets = openSecrets('offers', { store, settings: other, log: { outage } });
        await secrets.read();
        expect([order(secrets), reasons]).toEqual([
          [],
          [expect.stringContaining('KEY_ENCRYPTION')],
        ]);
      }
    });

    test('is replaced unless a request was accepted with it, whichever of the two it is', async () => {
      await rotate();
      const first = await rotate();
      expect(await stored()).toEqual([first]);
      await accept(await gateway(), first);
      const second = await rotate();
      now += MINUTE;
      await accept(await gateway(), second);
      const third = await rotate();
      expect(await stored()).toEqual([second, third].sort());
      now += MINUTE;
      await accept(await gateway(), third);
      now += MINUTE;
      // The subgraph went back.
      await accept(await gateway(), second);
      const fourth = await rotate();
      expect(await stored()).toEqual([second, fourth].sort());
    });

    test('is tried first if it was accepted last, and once a minute after the newer one', async () => {
      const old = await rotate();
      const running = await gateway();
      await accept(running, old);
      const fresh = await rotate();
      await running.read();
      expect(order(running)).toEqual([old, fresh]);
      now += MINUTE;
      // A subgraph that takes both would otherwise need the old one for ever.
      expect(order(running)).toEqual([fresh, old]);
      expect(order(running)).toEqual([old, fresh]);
      await accept(running, fresh);
      now += MINUTE;
      expect(order(running)).toEqual([fresh, old]);
      expect(order(await gateway())).toEqual([fresh, old]);
    });

    test('ends when no request has needed it for 24 hours, and the newer one is taken', async () => {
      const old = await rotate();
      const running = await gateway();
      await accept(running, old);
      now += 30 * 24 * HOUR;
      const fresh = await rotate();
      await running.read();
      now += HOUR;
      await accept(running, old);
      now += 25 * HOUR;
      expect(await stored()).toEqual([old, fresh].sort());
      await accept(running, old);
      now += 23 * HOUR;
      await accept(running, fresh);
      expect(await stored()).toEqual([old, fresh].sort());
      now += HOUR;
      await accept(running, fresh);
      expect(await stored()).toEqual([fresh]);
      expect(order(running)).toEqual([fresh]);
    });

    test('is known to a gateway that runs, which serves the graph before there is one', async () => {
      const subgraph = await startSubgraph('type Query { a: Int }', { a: 7 });
      const env = { KEY_ENCRYPTION_KEY: SETTINGS.keyEncryptionKey, SUBGRAPH_HOSTS: '127.0.0.1' };
      const settings = readSettings({ ...env, SUBGRAPH_SECRET: 'x'.repeat(16) }, 'gateway');
      const metrics = createMetrics();
      const connections = createConnections({ settings, store, inProcess: {}, log, metrics });
      const entry = { name: 'offers', url: subgraph.url, batching: false, codes: [] };
      const transport = (await connections.open([entry])).get('offers')?.transport;
      const caller = { kind: 'service' } as const;
      const ask = () => transport?.execute({ query: '{ a }', caller, requestId: 'r' });
      expect((await ask())?.errors).toMatchObject([
        { extensions: { code: 'SERVICE_UNAVAILABLE' } },
      ]);
      expect(subgraph.asked).toEqual([]);
      await rotate();
      await until(async () => (await ask())?.data?.a === 7);
      await connections.close();
      subgraph.close();
      // The first request was noted: the next rotation does not end what is in use.
      expect((await table.get('offers'))?.secrets[0]?.acceptedAt).toBeDefined();
    });

    test('is dropped by an operator, but never the only one', async () => {
      const old = await rotate();
      await accept(await gateway(), old);
      expect(await dropOldSecret(table, 'offers')).toBe(false);
      const fresh = await rotate();
      expect(await dropOldSecret(table, 'offers')).toBe(true);
      expect(await stored()).toEqual([fresh]);
      expect(await dropOldSecret(table, 'nobody')).toBe(false);
    });
  });
});

// A graph is prepared before it serves, and what it replaces is let go.
describe('served', () => {
  const COMMITTED = readFileSync(SUPERGRAPH_FILE, 'utf8');
  const READ = 'query ($email: String!) { memberByEmail(email: $email) { email tier } }';
  const log = createLog('silent');

  async function serve() {
    const closed: string[] = [];
    const local = (name: string): Transport => ({
      execute: () => ({ data: { memberByEmail: null } }),
      ready: async () => {},
      close: async () => void closed.push(name),
    });
    const caches = createCaches();
    const documents = createDocuments(caches, { documentCache: () => {} });
    const settings = readSettings({ SUBGRAPH_SECRET: 'a secret of this test' }, 'all');
    const inProcess = { gateway: local('gateway'), members: local('members') };
    const connections = createConnections({ settings, inProcess, log, metrics: createMetrics() });
    const graphs = await serveGraphs(graphOf(COMMITTED), { connections, documents, caches });
    return { graphs, documents, caches, connections, closed };
  }

  test('documents in use are prepared before the graph serves, and no others', async () => {
    const { graphs, documents, connections } = await serve();
    const document = documents.read(READ);
    const other = documents.read(READ.replace('tier', 'points'));
    for (const each of [document, other]) documents.keep(each);
    graphs.current().surfaces.partner.prepare(document, document.operations[0]);
    await graphs.replace(graphOf(`${COMMITTED}#`));
    const { partner, member } = graphs.current().surfaces;
    expect([partner.knows(document), partner.knows(other), member.knows(document)]).toEqual([
      true,
      false,
      false,
    ]);
    await connections.close();
  });

  test('a graph does not wait for a plan that takes too long', async () => {
    const documents = [READ, READ.replace('tier', 'points')].map((text) => parseDocument(text));
    const begun: unknown[] = [];
    const never = {
      knows: () => true,
      warm(document: unknown) {
        begun.push(document);
        return new Promise<void>(() => {});
      },
    };
    const graph = { surfaces: { partner: never, member: never } };
    await prepareAhead(graph, graph, { mostUsed: () => documents }, performance.now() + 200);
    expect(begun).toEqual([documents[0]]);
  });

  test('a graph is kept while a request has it in use, and nothing of it after that', async () => {
    const { graphs, caches, connections, closed } = await serve();
    const bytes = caches.bytes();
    const first = graphs.use();
    const [standings] = [first.connections.get('standings')];
    await graphs.replace(graphOf(`${COMMITTED}#`));
    expect(graphs.current()).not.toBe(first);
    expect(standings?.graphs).toBe(2);
    await first.surfaces.partner.warm(parseDocument(READ));
    expect(caches.bytes()).toBeGreaterThan(bytes);
    graphs.done(first);
    expect(standings?.graphs).toBe(1);
    expect(caches.bytes()).toBe(bytes);
    expect(graphs.current().connections.get('standings')).toBe(standings);

    // Somewhere else, it is another connection; the former one closes.
    const moved = COMMITTED.replace('http://standings:4012', 'http://elsewhere:4012');
    await graphs.replace(graphOf(moved));
    expect(graphs.current().connections.get('standings')).not.toBe(standings);
    expect(standings?.graphs).toBe(0);
    expect(closed).toEqual([]);
    await connections.close();
  });

  test('a graph whose subgraph has no address is refused, and one without a secret serves', async () => {
    const { graphs, connections } = await serve();
    const third = (url: string) =>
      COMMITTED.replace(
        'name: "standings", url: "http://standings:4012/graphql"',
        `name: "offers-eu", url: "${url}"`,
      );
    await expect(graphs.replace(graphOf(third('')))).rejects.toThrow('OFFERS_EU_URL must be set');
    expect(graphs.current().connections.has('standings')).toBe(true);
    await graphs.replace(graphOf(third('http://offers')));
    const offers = graphs.current().connections.get('offers-eu');
    const caller = { kind: 'service' } as const;
    const { errors } =
      (await offers?.transport.execute({ query: '{a}', caller, requestId: 'r' })) ?? {};
    expect(errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
    await connections.close();
  });
});

// The source of graphs is followed: what cannot be read or built is logged, counted, tried again.
describe('watch', () => {
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
});
