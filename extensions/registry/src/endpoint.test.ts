// The registry's endpoint: what it caches, how teams share its places, and which URLs it withholds.
import { EventEmitter, once } from 'node:events';
import { createMemoryCounters } from '@partner-loyalty/gateway/budget/counters.ts';
import { createLimiter } from '@partner-loyalty/gateway/budget/limiter.ts';
import type { GraphStore } from '@partner-loyalty/gateway/graph/graph.ts';
import { openGraphStore } from '@partner-loyalty/gateway/stores.ts';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { UNSHARED } from '../../../test/support/requests/unshared.ts';
import { createRegistryEndpoint } from './endpoint.ts';
import { approveProposal, pendingProposals } from './proposals.ts';
import { withSubgraph } from './publish/assessment.ts';
import { committedContent } from './publish/content.ts';
import { createToken, listTokens, revokeToken } from './tokens.ts';

let store: GraphStore;
let handle: ReturnType<typeof createRegistryEndpoint>;
let open: (parts?: { longMs?: number }) => typeof handle;
let release: () => Promise<void>;

beforeEach(async () => {
  const folder = temporaryFolder();
  const settings = readSettings({ DATA_DIR: folder.path }, 'all');
  store = await openGraphStore(settings);
  release = async () => {
    await store.close();
    folder.remove();
  };
  open = (parts = {}) =>
    createRegistryEndpoint({
      settings,
      graphStore: store,
      usageStore: { fields: async () => [] },
      audit: undefined,
      limiter: createLimiter(createMemoryCounters('sandbox'), 60),
      caches: createCaches(),
      log: createLog('silent'),
      ...parts,
    });
  handle = open();
});
afterEach(() => release());

const append = (version: number, content = committedContent(), by: object = {}) => {
  const change = `publish offers ${version}`;
  const published = { publishedAt: new Date(), change, changes: [] };
  return store.append({ ...content, ...published, ...by, version });
};

const tokenOf = async (subgraph: string, owner = `${subgraph}-team`) => {
  const made = { subgraph, owner, lifetimeMs: 60_000 };
  return (await createToken(await store.tables(), made)).token;
};

const respond = (token: string, operation: string, body: () => Promise<Buffer>) =>
  handle({
    ...{ method: 'POST', path: `/registry/${operation}`, search: '', address: '192.0.2.1' },
    ...UNSHARED,
    requestId: 'r',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    signal: new AbortController().signal,
    body,
  });

const jsonOf = (body: object) => async () => Buffer.from(JSON.stringify(body));

const ask = async (token: string, operation: string, body: object = {}) => {
  const response = await respond(token, operation, jsonOf(body));
  expect([response.status, String(response.body)]).toEqual([200, expect.any(String)]);
  return response.body;
};

test('of many versions that teams want to see at once, one is read at a time', async () => {
  const versions = [1, 2, 3, 4, 5];
  for (const version of versions) await append(version);
  const tokens = [await tokenOf('offers'), await tokenOf('spa')];
  const read = store.version.bind(store);
  let [reading, most] = [0, 0];
  store.version = async (version) => {
    reading += 1;
    most = Math.max(most, reading);
    return read(version).finally(() => {
      reading -= 1;
    });
  };
  await Promise.all(
    tokens.flatMap((token) => versions.map((version) => ask(token, 'show', { version }))),
  );
  expect(most).toBe(1);
});

test('teams whose bodies are slow hold a place each, whatever tokens they use, and another team is served', async () => {
  const [one, other, spa, third, fourth] = [
    await tokenOf('offers'),
    await tokenOf('games', 'Offers-Team'),
    await tokenOf('spa'),
    await tokenOf('rooms'),
    await tokenOf('cars'),
  ];
  const client = new EventEmitter();
  const reads: string[] = [];
  const slow = (token: string) =>
    respond(token, 'rollback', async () => {
      reads.push(token);
      client.emit('read');
      const [body] = await once(client, 'end');
      return body;
    });
  const begins = once(client, 'read');
  const held = [slow(one)];
  await begins;
  held.push(slow(other), slow(third), slow(fourth));
  await ask(spa, 'rollback', { name: 'spa' });
  expect(reads).toEqual([one, third, fourth]);
  const next = once(client, 'read');
  client.emit('end', Buffer.from('{}'));
  await next;
  client.emit('end', Buffer.from('{}'));
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([...[200, 200, 200, 200]]);
});

test('429 for a team whose last schema took long to assess, with any of its tokens, and no other team', async () => {
  handle = open({ longMs: 0 });
  const check = async (token: string, name: string) => {
    const body = { name, sdl: 'type Query {', file: 'f.graphql' };
    return respond(token, 'check', jsonOf(body));
  };
  const [games, spa] = [await tokenOf('games', 'offers-team'), await tokenOf('spa')];
  expect(await check(await tokenOf('offers'), 'offers')).toMatchObject({ status: 200 });
  expect(await check(games, 'games')).toMatchObject({
    status: 429,
    headers: { 'retry-after': expect.stringMatching(/^[1-9]/) },
  });
  expect(await check(spa, 'spa')).toMatchObject({ status: 200 });
});

test('a schema of over 256 KiB, or the 2,001st type of a team, is composed only after an operator approves it', async () => {
  await append(1);
  const [games] = [await tokenOf('games', 'offers-team'), await tokenOf('offers')];
  const types = (count: number) =>
    Array.from({ length: count }, (_, n) => `type T${n} { type: Int }`).join('\n');
  const content = committedContent();
  const offers = { ...content.schemas, offers: types(1_000) };
  await append(2, { ...content, schemas: offers });
  const outcomeOf = async (operation: string, sdl: string) => {
    const body = await ask(games, operation, { name: 'games', sdl, file: 'games.graphql' });
    return JSON.parse(String(body));
  };
  const large = `type Query { a(of: String = "${'x'.repeat(270_000)}"): Int a: Int }`;
  const refused = `games would have a schema of ${large.length} bytes, over 262144 (approved by an operator)`;
  expect(await outcomeOf('check', large)).toEqual({
    refused: `publishing it needs approval: ${refused}`,
  });
  expect(await outcomeOf('publish', large)).toEqual({
    refused: expect.stringContaining(`publish games needs approval: ${refused}`),
  });
  expect((await outcomeOf('check', types(1_001))).refused).toContain('2001 types, over 2000');
  const tables = await store.tables();
  const [proposal] = await pendingProposals(tables);
  await approveProposal(tables, { kind: 'operator' }, proposal?.proposalId ?? '');
  // It is composed now, and has faults.
  expect((await outcomeOf('check', large)).refused).toContain('[games] Field a');
});

test('a large body is counted once, and its schema is not written as JSON again', async () => {
  const token = await tokenOf('offers');
  const sdl = `type Query { a: Int } #${'"'.repeat(270_000)}`;
  const body = await jsonOf({ name: 'offers', sdl, file: 'o.graphql' })();
  const search = jest.spyOn(body, 'indexOf');
  const write = jest.spyOn(JSON, 'stringify');
  const response = await respond(token, 'publish', async () => body);
  const longest = Math.max(...write.mock.results.map(({ value }) => String(value).length));
  write.mockRestore();
  expect(String(response.body)).toContain('needs approval');
  expect(search.mock.calls.length).toBeLessThan(30_000);
  expect(longest).toBeLessThan(1_000);
});

test('429 for the 61st change of a subgraph within an hour, and for no other subgraph', async () => {
  const [offers, spa] = [await tokenOf('offers'), await tokenOf('spa')];
  for (let version = 1; version <= 60; version += 1)
    await append(version, committedContent(), { change: 'publish offers', owner: 'offers-team' });
  const rollBack = (token: string, name: string) => respond(token, 'rollback', jsonOf({ name }));
  expect(await rollBack(offers, 'offers')).toMatchObject({
    status: 429,
    headers: { 'retry-after': expect.stringMatching(/^3[56]\d\d$/) },
  });
  expect(await rollBack(spa, 'spa')).toMatchObject({ status: 200 });
});

test('a token that is revoked while its request arrives, or is assessed, changes nothing', async () => {
  const tables = await store.tables();
  const revokeAll = async () => {
    for (const { tokenId } of await listTokens(tables)) await revokeToken(tables, tokenId);
  };
  const { status } = await respond(await tokenOf('offers'), 'rotateSecret', async () => {
    await revokeAll();
    return Buffer.from('{"name":"offers"}');
  });
  expect([status, await tables.secrets.get('offers')]).toEqual([401, undefined]);

  await append(1);
  const { version } = store;
  store.version = async (number) => {
    await revokeAll();
    return version(number);
  };
  const sdl = committedContent().schemas.standings;
  const body = { name: 'standings', sdl: `${sdl} scalar Added`, file: 'standings.graphql' };
  const published = await respond(await tokenOf('standings'), 'publish', jsonOf(body));
  expect([published.status, await store.latest()]).toEqual([401, 1]);
});

test.each<[string, () => string]>([
  ['codes that are no strings', () => `{"name":"offers","codes":[${'1,'.repeat(900_000)}1]}`],
  ['empty codes', () => `{"name":"offers","codes":[${'"",'.repeat(900_000)}""]}`],
  ['lists in a list', () => `{"name":"offers","x":[${'[],'.repeat(900_000)}0]}`],
  ['lists in lists', () => `{"x":${'['.repeat(4e6)}${']'.repeat(4e6)}}`],
  ['objects in objects', () => `${'{"a":'.repeat(9e5)}0${'}'.repeat(9e5)}`],
  ['properties', () => `{${Array.from({ length: 5e5 }, (_, n) => `"${n}":0`).join()}}`],
  ['some dozens of properties', () => `{${Array.from({ length: 60 }, (_, n) => `"${n}":0`)}}`],
])('a body of %s is refused before it is parsed', async (_, write) => {
  const { status, body } = await respond(await tokenOf('offers'), 'check', async () =>
    Buffer.from(write()),
  );
  expect(status).toBe(400);
  expect(String(body)).toContain('more members and list items than any request');
});

test('a body with strings of every length has a short fault', async () => {
  const token = await tokenOf('offers');
  const long = 'x'.repeat(4e6);
  for (const given of [
    { name: long, sdl: long, file: long, url: `https://offers.example/${long}` },
    { name: 'offers', sdl: '', file: 'f', url: `https://offers.example/${'é'.repeat(400)}` },
    { name: 'offers', sdl: '', file: 'f', codes: Array(101).fill('A') },
    { [long]: long, codes: [long] },
  ]) {
    const { status, body } = await respond(token, 'check', jsonOf(given));
    expect([status, String(body).length < 1_000]).toEqual([400, true]);
  }
});

test('a team that guesses the URL of another in its schema does not learn whether it is right', async () => {
  const guesses = ['https://spa.example/', 'https://wrong.example/'];
  const [url = ''] = guesses;
  const fields = guesses.map((guess, n) => `guess${n}(of: String = "${guess}"): Int`);
  const lines = guesses.map((guess) => `SPA @join__graph(name: "spa", url: "${guess}")`);
  const sdl = `"""\n${lines.join('\n')}\n""" type Query { ${fields.join('\n')} }`;
  const options = { batching: false, codes: [] };
  const spa = withSubgraph(
    committedContent(),
    { name: 'spa', url, ...options },
    { sdl: 'type Query { spa: Int }', file: 'spa.graphql' },
  );
  const offers = { name: 'offers', url: 'https://offers.example/', ...options };
  await append(1, withSubgraph(spa, offers, { sdl, file: 'offers.graphql' }));
  const body = await ask(await tokenOf('offers'), 'show');
  const { supergraph }: { supergraph: string } = JSON.parse(String(body)).result;
  const found = supergraph
    .split('\n')
    .filter((line) => /guess|SPA @join__graph|example/.test(line));
  expect(found.map((line) => line.trim())).toEqual([
    'OFFERS @join__graph(name: "offers", url: "https://offers.example/")',
    ...Array(3).fill('SPA @join__graph(name: "spa", url: "")'),
    ...fields.map((field) => `${field} @join__field(graph: OFFERS)`),
  ]);
  expect(supergraph).not.toMatch(/gateway\.invalid|members:4011|standings:4012/);
});
