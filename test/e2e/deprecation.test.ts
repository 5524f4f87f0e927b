// What is deprecated in a published graph shows in introspection, headers, log and changelog.

import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SUPERGRAPH_FILE } from '@partner-loyalty/gateway';
import { temporaryFolder } from '../support/folder.ts';
import { type PlainSubgraph, startSubgraph } from '../support/graphs/graph.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { loyalty, loyaltyJson } from '../support/service/loyalty.ts';
import { until } from '../support/until.ts';

const OFFERS = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@tag"])
  type Query {
    offers(region: Region, filter: OfferFilter, limit: Int): [Offer!]! @tag(name: "partner")
    ownOffers: [Offer!]! @tag(name: "member")
  }
  type Offer {
    title: String! @tag(name: "partner") @tag(name: "member")
    ends: String @tag(name: "partner")
    starts: String @tag(name: "partner")
    doors: String @tag(name: "partner")
    margin: Int @tag(name: "member")
  }
  input OfferFilter { word: String  text: String }
  enum Region { EUROPE  EU }
`;
/** Dated by hand, so that it is the earliest. */
const DATED = 'Ask for starts. Deprecated since 2026-01-31, kept until 2099-01-31.';
const deprecate = (part: string, reason: string) => (sdl: string) => {
  if (!sdl.includes(part)) throw new Error(`the schema has ${part}`);
  return sdl.replace(part, `${part} @deprecated(reason: "${reason}")`);
};
const DEPRECATED = [
  deprecate('limit: Int', 'Send <filter>.'),
  deprecate('ends: String', 'Ask for starts'),
  deprecate('starts: String', DATED),
  // No request asks for it.
  deprecate('doors: String', DATED),
  deprecate('margin: Int', 'Is nobody’s business.'),
  deprecate('word: String', 'Send text.'),
  deprecate('EUROPE', 'Send EU.'),
].reduce((sdl, change) => change(sdl), OFFERS);
const ROOT = { offers: [{ title: 'A night' }], ownOffers: [{ title: 'A night' }] };

const folder = temporaryFolder();
let subgraph: PlainSubgraph;
let service: InProcessService;
let env: Record<string, string>;

const publish = (sdl: string) => {
  subgraph.serve(sdl, ROOT);
  const file = join(folder.path, 'offers.graphql');
  writeFileSync(file, sdl);
  return loyaltyJson(env, 'supergraph', 'publish', 'offers', file, '--url', subgraph.url, '--init');
};

const FIELDS = `{ __type(name: "Offer") { fields(includeDeprecated: true) {
  name isDeprecated deprecationReason } } }`;

beforeAll(async () => {
  subgraph = await startSubgraph(OFFERS, ROOT);
  const secret = { OFFERS_SECRET: 'the secret of offers' };
  service = await startInProcess({ env: { ...secret, RATE_LIMIT_BUDGET: '1000000' } });
  env = { ...secret, DATA_DIR: service.dataDir };
  await publish(OFFERS);
  await publish(DEPRECATED);
  await until(async () =>
    (await service.send({ query: FIELDS })).text.includes('"isDeprecated":true'),
  );
});
afterAll(async () => {
  await service.close();
  subgraph.close();
  folder.remove();
});

/** Midnight UTC of the day of the second version. */
async function publishedOn(): Promise<Date> {
  const [newest] = await loyaltyJson(env, 'supergraph', 'list');
  return new Date(`${String(newest?.publishedAt).slice(0, 10)}T00:00:00Z`);
}

async function headersOf(query: string, variables: Record<string, unknown> = {}) {
  const { status, headers, text } = await service.send({ query, variables });
  if (status !== 200) throw new Error(text);
  return ['deprecation', 'sunset', 'link'].map((name) => headers.get(name));
}

test('introspection shows what is deprecated, with its dates, and nothing of the other surface', async () => {
  const { body, text } = await service.send({ query: FIELDS });
  const day = (await publishedOn()).toISOString().slice(0, 10);
  expect(body.data).toMatchObject({
    __type: {
      fields: [
        { name: 'title', isDeprecated: false, deprecationReason: null },
        {
          name: 'ends',
          isDeprecated: true,
          deprecationReason: expect.stringMatching(
            new RegExp(
              `^Ask for starts\\. Deprecated since ${day}, kept until \\d{4}-\\d\\d-\\d\\d\\.$`,
            ),
          ),
        },
        { name: 'starts', isDeprecated: true, deprecationReason: DATED },
        { name: 'doors', isDeprecated: true, deprecationReason: DATED },
      ],
    },
  });
  expect(text).not.toContain('margin');
});

test.each<[what: string, query: string, variables?: Record<string, unknown>]>([
  ['a field', '{ offers { ends } }', {}],
  [
    'an input field in a variable',
    'query ($f: OfferFilter) { offers(filter: $f) { title } }',
    { f: { word: 'spa' } },
  ],
])('the answer to an operation that uses %s says so', async (_what, query, variables) => {
  const since = await publishedOn();
  const [deprecation, sunset = '', link] = await headersOf(query, variables);
  expect(deprecation).toBe(`@${since.getTime() / 1_000}`);
  const until = new Date(sunset ?? '');
  expect(until.toUTCString()).toBe(sunset);
  expect(until.getUTCHours()).toBe(0);
  const months =
    (until.getUTCFullYear() - since.getUTCFullYear()) * 12 +
    until.getUTCMonth() -
    since.getUTCMonth();
  expect(months).toBe(6);
  const changelog = '<http://localhost:4000/docs#changelog>';
  expect(link).toBe(
    `${changelog}; rel="deprecation"; type="text/html", ${changelog}; rel="sunset"; type="text/html"`,
  );
});

test('the answer to an operation with nothing deprecated has no such header', async () => {
  const query = 'query ($r: Region, $f: OfferFilter) { offers(region: $r, filter: $f) { title } }';
  const variables = { r: 'EU', f: { text: 'EUROPE' } };
  expect(await headersOf(query, variables)).toEqual([null, null, null]);
});

test("the changelog has each surface's own changes", async () => {
  const entries = (surface: string) =>
    loyaltyJson(env, 'supergraph', 'changelog', '--surface', surface);
  const lines = async (surface: string) =>
    (await entries(surface)).map(({ kind, coordinate }) => [kind, coordinate].join(' ').trim());
  const [newest] = await entries('partner');
  expect(newest?.date).toBe((await publishedOn()).toISOString().slice(0, 10));
  const partner = await lines('partner');
  expect(partner.slice(0, -1).sort()).toEqual([
    'added Offer',
    'added OfferFilter',
    'added Query.offers',
    'added Region',
    'deprecated Offer.doors',
    'deprecated Offer.ends',
    'deprecated Offer.starts',
    'deprecated OfferFilter.word',
    'deprecated Query.offers(limit:)',
    'deprecated Region.EUROPE',
  ]);
  expect(partner.at(-1)).toBe('added');
  expect(await lines('member')).toEqual(
    expect.arrayContaining(['deprecated Offer.margin', 'added Query.ownOffers']),
  );
  const headers = { accept: 'text/html' };
  const page = await (await fetch(`${service.url}/docs`, { headers })).text();
  const [, partnerList = '', memberList = ''] = page.split(/<h3 id="changelog-\w+">/);
  expect(partnerList).toContain('<strong>deprecated</strong> <code>Offer.ends</code>');
  expect(partnerList).toContain('Send &lt;filter&gt;. Deprecated since');
  expect(partnerList).not.toContain('margin');
  expect(memberList).toContain('<strong>deprecated</strong> <code>Offer.margin</code>');
  expect((await lines('member')).join()).not.toMatch(/ends|starts|Region|OfferFilter/);
});

test('what is deprecated is not removed before its date', async () => {
  const sdl = DEPRECATED.replace(/^ {4}doors: String.*\n/m, '');
  subgraph.serve(sdl, ROOT);
  const file = join(folder.path, 'next.graphql');
  writeFileSync(file, sdl);
  expect(await loyalty(env, 'supergraph', 'check', 'offers', file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Offer.doors (partner) is kept until 2099-01-31'),
  });
});

// A new file takes the place of the graph that serves, without a restart.

test('a graph serves as soon as its file is replaced, with other graphs before and after it', async () => {
  const committed = readFileSync(SUPERGRAPH_FILE, 'utf8');
  const without = committed.replace(
    /(tier: String! @join__field\(graph: STANDINGS\)) @tag\S+ "partner"\)/,
    '$1',
  );
  const file = join(folder.path, 'supergraph.graphql');
  /** As a deployment does: a new file, and a link to it that replaces the former link at once. */
  const swap = (name: string, text: string) => {
    writeFileSync(join(folder.path, name), text);
    symlinkSync(join(folder.path, name), `${file}.link`);
    renameSync(`${file}.link`, file);
  };
  swap('committed', committed);
  const other = await startInProcess({
    env: { SUPERGRAPH_FILE: file, RATE_LIMIT_BUDGET: '1000000' },
  });
  const codeOf = async (field: string) =>
    (await other.send({ query: `{ memberById(memberId: "m-both") { ${field} } }` })).code;
  expect(await codeOf('tier')).toBeUndefined();
  swap('without', without);
  await until(async () => (await codeOf('tier')) === 'GRAPHQL_VALIDATION_FAILED');
  expect(await codeOf('points')).toBeUndefined();
  swap('again', committed);
  await until(async () => (await codeOf('tier')) === undefined);
  await other.close();
});
