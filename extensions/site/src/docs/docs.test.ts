// The reference as text: what it shows of a schema, whatever the schema says.
import { rootScopesOf } from '@partner-loyalty/gateway/schema/scopes.ts';
import { html } from '@partner-loyalty/runtime/pages/html.ts';
import { buildSchema, parse } from 'graphql';
import MiniSearch from 'minisearch';
import type { About } from '../frame.ts';
import { docsPage } from './docs.ts';
import { LANGUAGES } from './examples.ts';
import { markdownHtml, pageText } from './guides.ts';
import { highlighted } from './highlight.ts';
import { PAGES } from './paths.ts';
import { inline, paragraphs } from './prose.ts';
import { groupsOf } from './reference.ts';
import { type Entry, entriesOf, INDEX_OPTIONS, indexOf } from './search.ts';
import { referencePage } from './surface.ts';

const ABOUT = {
  environment: 'sandbox',
  endpoint: 'https://sandbox.example/graphql',
  otherEndpoint: 'https://api.example/graphql',
  mcpEndpoint: 'https://sandbox.example/mcp',
  hasExplorer: true,
  hasConsole: true,
} as const;
const EMPTY = 'type Query { other: Int }';

/** The page with the lists, and then each page of the reference. */
function docs(partner: string, member = EMPTY, about: About = ABOUT): string {
  const scopes = rootScopesOf(parse(partner));
  const schemas = { partner: buildSchema(partner), member: buildSchema(member) };
  const changelogs = {
    partner: [
      { date: '2026-11-22', kind: 'removed' as const, coordinate: 'A.b', text: '<img src=y>' },
    ],
    member: [],
  };
  const served = { version: 1, schemas, scopes, changelogs };
  const lists = docsPage(about, served, { budget: 600, windowSeconds: 90 });
  const documented = [
    { surface: 'partner' as const, schema: schemas.partner, scopes },
    { surface: 'member' as const, schema: schemas.member },
  ];
  const pages = documented.flatMap((each) =>
    groupsOf(each.surface, each.schema).flatMap(({ entries }) =>
      entries.map((shown) => referencePage(about, each, shown)),
    ),
  );
  return [lists, ...pages].join('\n<!-- page -->\n');
}

const htmlOf = (parts: { html: string }[]) => parts.map(({ html }) => html).join('');

test('the window of a key is a setting, and that of a member is not', () => {
  const page = docs(EMPTY);
  expect(page).toMatch(/partner key, unless agreed otherwise<\/th><td>600 in 90 s</);
  expect(page).toMatch(/of a member<\/th><td>120 in 60 s</);
});

test('markup in descriptions, reasons and defaults stays text', () => {
  const attack = '<img src=x onerror=alert(1)>"\'&';
  const page = docs(`
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
  const others = page.replaceAll('<script type="module" src="/docs/app.js"></script>', '');
  expect(others).not.toMatch(/<(img|script|svg)|href="javascript|onerror=alert\(1\)>"/);
  expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;');
});

test('operations, arguments with their defaults, types and deprecations', () => {
  const page = docs(`
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
  for (const each of page.split('<!-- page -->')) {
    const ids = [...each.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const targets = [...each.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
  }
  for (const id of ['versioning', 'changelog', 'member-Query', 'partner-types'])
    expect(page).toContain(` id="${id}"`);
});

test('what was an anchor of the one page leads from there to a page of its own, which is marked beside it', () => {
  const [lists = '', ...pages] = docs('type Query { mine: Item } type Item { id: ID! }').split(
    '<!-- page -->',
  );
  expect(lists).toContain('<li id="partner-Query-mine"><a href="/docs/partner/queries/mine">');
  expect(lists).toContain('<li id="partner-Item"><a href="/docs/partner/types/Item">');
  const titles = pages.map((each) => /<h1 id="([^"]+)"/.exec(each)?.[1]);
  expect(titles).toEqual(['partner-Query-mine', 'partner-Item', 'member-Query-other']);
  const marked = pages.map((each) => / aria-current="page">(\w+)</g.exec(each)?.[1]);
  expect(marked).toEqual(['mine', 'Item', 'other']);
  expect(pages[1]).toContain('<dt id="partner-Item-id">');
});

test('each surface shows only its own fields', () => {
  const [lists = ''] = docs('type Query { mine: Int }').split('<!-- page -->');
  const [, partner = '', member = ''] = lists.split(/<h2 id="(?:partner|member)"/);
  expect([partner.includes('mine'), partner.includes('other')]).toEqual([true, false]);
  expect([member.includes('mine'), member.includes('other')]).toEqual([false, true]);
});

test('each root field of the partner surface says which scope it needs, and the table lists it', () => {
  const page = docs(`
    directive @tag(name: String!) repeatable on FIELD_DEFINITION
    type Query { mine: Thing, pages(first: Int = 100, only: [ID!]): Thing }
    type Thing { name: String }
    type Mutation {
      change: Int
      many(ids: [ID!]!): Int
      both: Int @tag(name: "scope-sign-in") @tag(name: "scope-ingest")
    }
  `);
  const text = page.replace(/<[^>]+>/g, '').replace(/\s+/g, ' ');
  for (const entry of [
    'mine Needs the scope read. Cost: 1. mine: Thing',
    'change Needs the scope enroll. Cost: 1. change: Int',
    'both Needs the scope sign-in and ingest. Cost: 1. both: Int',
    'many Needs the scope enroll. Cost: 1 for every 10 of ids. many',
    'pages Needs the scope read. Cost: 1 for every 10 of first or only, so 10 by default. pages',
    'introspect the schema: mine, pages',
    'enrollments: change, many',
    'Record activities: both',
    'By default, a key can have read, enroll and sign-in. The operator must allow ingest.',
  ])
    expect(text).toContain(entry);
  expect(text.match(/Needs the scope/g)).toHaveLength(5);
});

test('an operation has its example if that fits what is served, and a link if there is an explorer', () => {
  const tier = (fields: string) => `type Query { program: Program } type Program { ${fields} }
    type Tier { name: String points: Int }`;
  const isListed = (page: string) => page.includes('name="partner.program"');
  const fits = 'membershipYearStart: String timeZone: String tierValidity: String tiers: [Tier]';
  const page = docs(tier(fits));
  expect([isListed(page), isListed(docs(tier('timeZone: String')))]).toEqual([true, false]);
  expect(page.replace(/<[^>]+>/g, '')).toContain('curl -s https://sandbox.example/graphql');
  expect(page).toContain('/explorer#query=');
  expect(docs(tier(fits), EMPTY, { ...ABOUT, hasExplorer: false })).not.toContain('/explorer');
});

test('code in text, and links as their text', () => {
  expect(htmlOf(inline('a `b` c [d](e.md#f)'))).toBe('a <code>b</code> c d');
  expect(htmlOf(inline('an open ` <'))).toBe('an open ` &lt;');
  expect(htmlOf(paragraphs('x'.repeat(60_000)))).toHaveLength('<p></p>…'.length + 4_000);
  expect(htmlOf(paragraphs(' one\ntwo \n\n\n three'))).toBe('<p>one\ntwo</p><p>three</p>');
});

test('HTML in Markdown stays text, and so does code', () => {
  const page = markdownHtml(
    '<img src=x onerror=alert(1)> a <b>c</b>\n\n```js\n<script>\n```\n',
    'keys',
  );
  expect(page).not.toMatch(/<(img|b|script)\b/);
  expect(page).toContain('&lt;b&gt;c&lt;/b&gt;');
  expect(page).toContain('aria-label="Example, js"');
});

test('code has colours, whatever is in it, and a language that nobody knows has none', () => {
  const attack = 'const a = "</span><script>"; // \u202e <b>';
  const { html: shown } = highlighted(attack, 'js');
  expect(shown).toMatch(/<span class="k">const<\/span>.*<span class="s">&quot;&lt;\/span&gt;/);
  expect(shown).toMatch(/<span class="c">\/\/ {2}&lt;b&gt;<\/span>$/);
  expect(highlighted('a < b', 'nonsense').html).toBe('a &lt; b');
  for (const language of LANGUAGES)
    expect([language, highlighted('x("y")', language).html]).toEqual([
      language,
      expect.stringContaining('<span class="s">&quot;y&quot;</span>'),
    ]);
});

test('links lead to pages, examples and the service; those to other files, or to scripts, are text', () => {
  const hrefOf = (target: string, page = 'guides/check-in') =>
    /href="([^"]*)"/.exec(markdownHtml(`[x](${target})`, page))?.[1];
  expect(hrefOf('errors-and-retries.md#how-to-try-again')).toBe(
    '/docs/guides/errors-and-retries#how-to-try-again',
  );
  expect(hrefOf('../keys.md#scopes')).toBe('/docs/keys#scopes');
  expect(hrefOf('guides/desk.md', 'keys')).toBe('/docs/guides/desk');
  expect(hrefOf('../../../examples/node/signin.web.mjs')).toBe('/docs/guides/signin.web.mjs');
  for (const kept of ['/docs#errors', '#here', 'https://example.com/a'])
    expect(hrefOf(kept)).toBe(kept);
  for (const dropped of [
    '../../operators/security.md',
    'nothing.md',
    'keys.md',
    '../../../examples/node/api.mjs',
    'javascript:alert(1)',
    'data:text/html,x',
  ])
    expect(hrefOf(dropped)).toBeUndefined();
});

test('pages and their examples name the service that serves them', () => {
  for (const page of PAGES)
    expect(pageText(page, 'https://api.example')).not.toContain('localhost:4000');
  expect(pageText('guides/check-in', 'https://api.example')).toContain(
    '=https://api.example/graphql',
  );
});

const TEXT = html`<h1 id="a">Guide ${'<1>'}</h1><p>First</p>
<h2 id="b"><code>b</code> second</h2><p>Text of it</p>
<div class="type" id="type"><h4><span>object</span> Type</h4>
<dl><dt id="field"><code>field(first: <a href="#x">Int</a>)</code></dt><dd>What it is
<section class="example"><pre id="no">secret</pre></section></dd></dl></div>
<ul><li id="listed">An old anchor</li></ul><h2 id="c">Third</h2>`;
const PAGE = `<h1 id="frame">Frame</h1><div class="text">${TEXT.html}</div>`;

test('each heading and term with an ID is an entry, below what contains it, without examples', () => {
  expect(entriesOf('/docs', PAGE)).toEqual([
    { id: '/docs#a', title: 'Guide <1>', place: '', text: 'First' },
    { id: '/docs#b', title: 'b second', place: 'Guide <1>', text: 'Text of it' },
    { id: '/docs#type', title: 'object Type', place: 'Guide <1> › b second', text: '' },
    {
      id: '/docs#field',
      title: 'field(first: Int)',
      place: 'Guide <1> › b second › object Type',
      text: 'What it is',
    },
    { id: '/docs#c', title: 'Third', place: 'Guide <1>', text: '' },
  ]);
  const [, text] = PAGE.split('<div class="text">');
  const below = entriesOf('/docs', `<div class="text"><p>Above › <a>it</a></p>${text}`);
  expect(below[0]).toMatchObject({ title: 'Guide <1>', place: 'Above › it' });
  const start = entriesOf('/docs', '<div class="text"><h1>Docs</h1><p>Long</p><h2 id="d">D</h2>');
  expect(start[0]).toMatchObject({ title: 'D', place: 'Docs' });
});

test('a beginning of a word, or one with a typing error, finds it', () => {
  const text = indexOf(new Map([['/docs', PAGE]]));
  const index = MiniSearch.loadJSON<Entry>(text, INDEX_OPTIONS);
  const ids = (query: string) => index.search(query).map(({ id }) => id);
  expect(ids('fiel')).toEqual(['/docs#field']);
  expect(ids('therd')).toEqual(['/docs#c']);
  expect(ids('secret')).toEqual([]);
});

test('pages are indexed up to 400,000 words', () => {
  const page = (place: number) =>
    `<h1>P</h1><div class="text"><h2 id="p${place}">Title${place}</h2>${'word,'.repeat(150_000)}`;
  const text = indexOf(new Map([1, 2, 3].map((place) => [`/${place}`, page(place)])));
  const index = MiniSearch.loadJSON<Entry>(text, INDEX_OPTIONS);
  expect(
    index
      .search('word')
      .map(({ id }) => id)
      .sort(),
  ).toEqual(['/1#p1', '/2#p2']);
});
