// The reference as text: what it shows of a schema, whatever the schema says.

import { rootScopesOf } from '@partner-loyalty/gateway/schema/scopes.ts';
import { buildSchema, parse } from 'graphql';
import type { About } from '../frame.ts';
import { docsPage } from './docs.ts';
import { inline, paragraphs } from './prose.ts';

const ABOUT = {
  environment: 'sandbox',
  endpoint: 'https://sandbox.example/graphql',
  otherEndpoint: 'https://api.example/graphql',
  mcpEndpoint: 'https://sandbox.example/mcp',
  hasExplorer: true,
  hasConsole: true,
} as const;
const EMPTY = 'type Query { other: Int }';

async function docs(partner: string, member = EMPTY, about: About = ABOUT): Promise<string> {
  const scopes = rootScopesOf(parse(partner));
  const schemas = { partner: buildSchema(partner), member: buildSchema(member) };
  const changelogs = {
    partner: [
      { date: '2026-11-22', kind: 'removed' as const, coordinate: 'A.b', text: '<img src=y>' },
    ],
    member: [],
  };
  return docsPage(
    about,
    { version: 1, schemas, scopes, changelogs },
    { budget: 600, windowSeconds: 90 },
  );
}

const htmlOf = (parts: { html: string }[]) => parts.map(({ html }) => html).join('');

test('the window of a key is a setting, and that of a member is not', async () => {
  const page = await docs(EMPTY);
  expect(page).toMatch(/partner key, unless agreed otherwise<\/th><td>600 in 90 s</);
  expect(page).toMatch(/of a member<\/th><td>120 in 60 s</);
});

test('markup in descriptions, reasons and defaults stays text', async () => {
  const attack = '<img src=x onerror=alert(1)>"\'&';
  const page = await docs(`
    """${attack}"""
    type Query {
      "${attack.replaceAll('"', '\\"')}"
      field(
        "${attack.replaceAll('"', '\\"')}"
        argument: String = "<script>"
      ): Kind @deprecated(reason: "${attack.replaceAll('"', '\\"')}")
    }
    "<b>x</b> \`</code><script>\`"
    enum Kind { A @deprecated(reason: "</p><script>") }
    "<svg/onload=1>"
    scalar Odd @specifiedBy(url: "javascript:alert(1)")
    extend type Query { odd: Odd }
  `);
  const others = page.replace('<script type="module" src="/docs/app.js"></script>', '');
  expect(others).not.toMatch(/<(img|script|svg)|href="javascript|onerror=alert\(1\)>"/);
  expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;');
});

test('operations, arguments with their defaults, types and deprecations', async () => {
  const page = await docs(`
    type Query { list(first: Int = 20, order: Order! = NEW): [Item!]! }
    enum Order { NEW OLD }
    "A thing."
    type Item { id: ID!  old: String @deprecated(reason: "Use \`id\`.") }
    input Filter { name: String! }
    type Mutation { change(filter: Filter): Item }
  `);
  const text = page.replace(/<[^>]+>/g, '');
  expect(text).toContain('list(first: Int = 20, order: Order! = NEW): [Item!]!');
  expect(text).toContain('change(filter: Filter): Item');
  expect(text).toMatch(/object Item\s+A thing\./);
  expect(page).toMatch(/<strong>Deprecated\.<\/strong> Use <code>id<\/code>\./);
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
  expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
  expect(ids).toEqual(expect.arrayContaining(['versioning', 'changelog', 'member-Query']));
});

test('each surface shows its own fields alone', async () => {
  const page = await docs('type Query { mine: Int }');
  const [, partner = '', member = ''] = page.split(/<h2 id="(?:partner|member)"/);
  expect([partner.includes('mine'), partner.includes('other')]).toEqual([true, false]);
  expect([member.includes('mine'), member.includes('other')]).toEqual([false, true]);
});

test('each root field of the partner surface says which scope it needs, and the table lists it', async () => {
  const page = await docs(`
    directive @tag(name: String!) repeatable on FIELD_DEFINITION
    type Query { mine: Thing }
    type Thing { name: String }
    type Mutation {
      change: Int
      both: Int @tag(name: "scope-sign-in") @tag(name: "scope-ingest")
    }
  `);
  const text = page.replace(/<[^>]+>/g, '').replace(/\s+/g, ' ');
  for (const entry of [
    'mine: Thing Needs the scope read.',
    'change: Int Needs the scope enroll.',
    'both: Int Needs the scope sign-in and ingest.',
    'introspect the schema: mine',
    'enrollments: change',
    'Record activities: both',
    'By default, a key can have read, enroll and sign-in. The operator must allow ingest.',
  ])
    expect(text).toContain(entry);
  expect(text.match(/Needs the scope/g)).toHaveLength(3);
});

test('an operation has its example if that fits what is served, and a link if there is an explorer', async () => {
  const tier = (fields: string) => `type Query { program: Program } type Program { ${fields} }
    type Tier { name: String points: Int }`;
  const isListed = (page: string) => page.includes('name="partner.program"');
  const fits = 'membershipYearStart: String timeZone: String tierValidity: String tiers: [Tier]';
  const page = await docs(tier(fits));
  expect([isListed(page), isListed(await docs(tier('timeZone: String')))]).toEqual([true, false]);
  expect(page).toContain('curl -s https://sandbox.example/graphql');
  expect(page).toContain('/explorer#query=');
  expect(await docs(tier(fits), EMPTY, { ...ABOUT, hasExplorer: false })).not.toContain(
    '/explorer',
  );
});

test('code in text, and links as their text', () => {
  expect(htmlOf(inline('a `b` c [d](e.md#f)'))).toBe('a <code>b</code> c d');
  expect(htmlOf(inline('an open ` <'))).toBe('an open ` &lt;');
  expect(htmlOf(paragraphs(' one\ntwo \n\n\n three'))).toBe('<p>one\ntwo</p><p>three</p>');
});
