// What a subgraph cannot do to others without their approval, and what it can.
import type { Need } from '@partner-loyalty/gateway/graph/tables.ts';
import { composeSupergraph } from './compose.ts';
import { needsOf } from './needs.ts';

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: [
  "@key", "@tag", "@shareable", "@external", "@requires", "@provides", "@override",
  "@inaccessible", "@interfaceObject"
])`;
const GUESTS = `
  directive @fast on FIELD
  type Query {
    guest(id: ID!, exact: Boolean = true): Guest @p @shareable
    find(level: Wish): Found
    page: PageInfo
  }
  type Mutation { add(input: NewGuest!): Guest @p @tag(name: "scope-enroll") }
  interface Node @key(fields: "id") { id: ID! @p }
  type Guest implements Node @key(fields: "id") @key(fields: "email") {
    "Never changes."
    id: ID! @p
    email: String @p
    name(short: Boolean = false): String @p
    nick: String! @shareable @p
    room: Room
    level: Level
  }
  input NewGuest { name: String  level: Wish }
  enum Level { LOW HIGH }
  enum Wish { LOW HIGH }
  union Found = Guest | Room
  interface Listed { number: Int! }
  type Room implements Listed @key(fields: "number") { number: Int!  safe: String }
  type PageInfo @shareable { more: Boolean!  end: String }
  scalar Day @specifiedBy(url: "https://example.com/day")
`;
const SCORES = `
  directive @fast on FIELD
  type Query { best(limit: Int): Guest }
  type Guest @key(fields: "id") { id: ID!  points(on: Day): Int! @p }
  scalar Day @specifiedBy(url: "https://example.com/day")
  type PageInfo @shareable { more: Boolean!  end: String }
`;
const OFFERS = `
  directive @fast on FIELD
  type Query { offers: [Offer!] @p }
  type Guest @key(fields: "id") { id: ID!  offers(sort: Sort = NEW): [Offer!] @p }
  interface Sold { price: Int }
  type Offer implements Sold @key(fields: "code") {
    code: ID! @p  price: Int  guest: Guest
  }
  enum Sort { NEW OLD }
`;

// `@p` stands for the tag of the partner surface.
const whole = (sdl: string) => `${LINK} ${sdl.replace(/@p\b/g, '@tag(name: "partner")')}`;

function contentOf(
  offers: string | undefined,
  url = 'https://offers.example/graphql',
  scores = SCORES,
) {
  const schemas = {
    guests: whole(GUESTS),
    scores: whole(scores),
    ...(offers !== undefined && { offers: whole(offers) }),
  };
  const subgraphs = Object.keys(schemas).map((name) => {
    return {
      name,
      url: name === 'offers' ? url : 'https://other.example',
      batching: false,
      codes: [],
    };
  });
  const sources = Object.entries(schemas).map(([name, sdl]) => {
    return { name, sdl, file: name, former: sdl };
  });
  return { schemas, subgraphs, supergraph: composeSupergraph(sources) };
}

const summary = ({ rule, what, losing }: Need) => {
  const read = /^offers would (?:get|answer for every|answer) ([\w.]+)/.exec(what)?.[1];
  const [changed] = rule === 'url' ? [] : what.split(' ');
  return [rule, read ?? changed, ...[...losing].sort()].filter(Boolean).join(' ');
};

const before = contentOf(OFFERS);
const needed = (offers: string | undefined, from = before) => [
  ...new Set(needsOf(from, contentOf(offers), 'offers').map(summary).sort()),
];
const more = (sdl: string) => `${OFFERS} ${sdl}`;
/** The schema of offers with more in its Guest. */
const guest = (fields: string, keys = '', rest = '') =>
  `${OFFERS.replace('type Guest @key(fields: "id") {', `type Guest @key(fields: "id") ${keys} { ${fields} `)} ${rest}`;

/** A schema without a Guest. */
const node = (fields: string) => `
  directive @fast on FIELD
  type Query { offers: [Offer!] }
  type Offer @key(fields: "code") { code: ID!  price: Int }
  type Node @key(fields: "id") @interfaceObject { id: ID!  ${fields} }
`;
const WISH = 'enum Wish { LOW HIGH }';
const NAME = 'name(short: Boolean = false): String @external';

const POINTS = 'points(on: Day): Int!';
const TAKEN = 'resolves Guest.points scores';
test.each<[attack: string, sdl: string, ...needs: string[]]>([
  // (a)
  ['takes a field over', guest(`${POINTS} @override(from: "scores")`, '', 'scalar Day'), TAKEN],
  [
    'takes a share of a field, by a label',
    guest(`${POINTS} @override(from: "scores", label: "percent(1)")`, '', 'scalar Day'),
    TAKEN,
  ],
  ['resolves a shared field too', guest('nick: String! @shareable'), 'resolves Guest.nick guests'],
  [
    'resolves a shared root field',
    more('extend type Query { guest(id: ID!, exact: Boolean = true): Guest @shareable }'),
    'resolves Query.guest guests',
  ],
  [
    'finds an object by one key and answers with another',
    guest('email: String', '@key(fields: "email")'),
    'resolves Guest.email guests',
    'resolves Guest.id guests scores',
  ],
  [
    'resolves a key field of a type that it has no key of',
    more('type Room { number: Int! @shareable }  extend type Offer { room: Room }'),
    'resolves Room.number guests',
  ],
  // (b)
  [
    'requires a field',
    guest(`${NAME}  hello: String @requires(fields: "name")`),
    'reads Guest.name guests',
  ],
  [
    'requires a field of another type',
    guest(
      'room: Room @external  hello: String @requires(fields: "room { safe }")',
      '',
      'type Room @key(fields: "number") { number: Int!  safe: String @external }',
    ),
    'reads Guest.room guests',
    'reads Room.safe guests',
  ],
  [
    'requires a field behind an interface of its own',
    guest(
      `me: Own  ${NAME}  hello: String @requires(fields: "me { ... on Guest { name } }")`,
      '',
      'interface Own { offers(sort: Sort = NEW): [Offer!] }',
    ).replace('type Guest', 'type Guest implements Own'),
    'reads Guest.name guests',
    'shape Guest guests scores',
  ],
  [
    'has a wider key',
    guest('nick: String!').replace('@key(fields: "id")', '@key(fields: "id nick")'),
    'reads Guest.id guests scores',
    'reads Guest.nick guests',
    'resolves Guest.id guests scores',
    'resolves Guest.nick guests',
  ],
  [
    'has a key of two that are offered one by one',
    guest('email: String').replace('@key(fields: "id")', '@key(fields: "id email")'),
    'reads Guest.email guests',
    'reads Guest.id guests scores',
    'resolves Guest.email guests',
    'resolves Guest.id guests scores',
  ],
  [
    'provides a field',
    guest('nick: String! @external').replace(
      'guest: Guest',
      'guest: Guest @provides(fields: "nick")',
    ),
    'reads Guest.nick guests',
  ],
  [
    'requires a field in a type of its own with a name like those of federation',
    guest(
      'nick: String! @external',
      '',
      `extend type Query { evil: connect__E }
      type connect__E @key(fields: "id") {
        id: ID!  seen: Guest  x: String @requires(fields: "seen { nick }")
      }`,
    ),
    'reads Guest.nick guests',
  ],
  ['answers for every type of an interface', node('rank: Int'), 'reads Node guests'],
  [
    'resolves a field of a type by an interface object',
    node('nick: String! @shareable'),
    'reads Node guests',
    'resolves Guest.nick guests',
  ],
  // (d)
  [
    'takes an input field away',
    more(`input NewGuest { level: Wish }  ${WISH}  extend type Query { x(i: NewGuest): Int }`),
    'shape NewGuest.name guests',
  ],
  [
    'makes an input field required',
    more(`input NewGuest { name: String!  level: Wish }  ${WISH}`),
    'shape NewGuest.name guests',
  ],
  [
    'hides an input field',
    more(`input NewGuest { name: String @inaccessible  level: Wish }  ${WISH}`),
    'shape NewGuest.name guests',
  ],
  [
    'takes an enum value away',
    more('enum Wish { LOW }  extend type Query { x(wish: Wish): Int }'),
    'shape Wish.HIGH guests',
  ],
  [
    'adds an enum value',
    more('enum Level { LOW HIGH TOP }  extend type Offer { level: Level }'),
    'shape Level.TOP guests',
  ],
  ['hides an enum value', more('enum Level { LOW HIGH @inaccessible }'), 'shape Level.HIGH guests'],
  [
    'takes an argument away',
    more('extend type Query { guest(id: ID!): Guest @shareable }'),
    'resolves Query.guest guests',
    'shape Query.guest(exact:) guests',
  ],
  [
    'changes the scope of a root field',
    more(`extend type Query { guest(id: ID!, exact: Boolean = true): Guest
      @shareable @tag(name: "scope-none") }`),
    'resolves Query.guest guests',
    'shape Query.guest guests',
  ],
  [
    'lets a field be null',
    guest('nick: String @shareable'),
    'resolves Guest.nick guests',
    'shape Guest.nick guests',
  ],
  [
    'hides a field',
    guest('nick: String! @shareable @inaccessible'),
    'resolves Guest.nick guests',
    'shape Guest.nick guests',
  ],
  [
    'shows a field on a surface',
    OFFERS.replace('id: ID! ', 'id: ID! @tag(name: "member") '),
    'shape Guest.id guests scores',
  ],
  [
    'deprecates a field',
    OFFERS.replace('id: ID! ', 'id: ID! @deprecated(reason: "use code") '),
    'shape Guest.id guests scores',
  ],
  [
    'describes a type',
    OFFERS.replace('type Guest', '"Ours." type Guest'),
    'shape Guest guests scores',
  ],
  ['adds a member to a union', more('union Found = Offer'), 'shape Found guests'],
  [
    'adds a type to an interface',
    more('interface Listed { number: Int! }  type Gift implements Listed { number: Int! }'),
    'shape Gift guests',
  ],
  [
    'adds a field to an interface',
    guest('', '', 'interface Listed { number: Int!  best: Int }').concat(
      'type Room implements Listed @key(fields: "number") { number: Int!  best: Int }',
    ),
    'shape Listed.best guests',
  ],
  [
    'adds an interface to a type',
    OFFERS.replace('type Guest', 'interface Keyed { id: ID! }  type Guest implements Keyed'),
    'shape Guest guests scores',
  ],
  [
    'takes away a directive of callers',
    OFFERS.replace('directive @fast on FIELD', ''),
    'shape @fast guests scores',
  ],
  [
    'makes a value weaker',
    more('type PageInfo @shareable { more: Boolean  end: String }'),
    'shape PageInfo.more guests scores',
  ],
  [
    'gives a value a key',
    more('type PageInfo @key(fields: "more") @shareable { more: Boolean!  end: String }'),
    'reads PageInfo.more guests scores',
    'resolves PageInfo.end guests scores',
    'resolves PageInfo.more guests scores',
  ],
])('a subgraph needs approval if it %s', (_attack, sdl, ...needs) => {
  expect(needed(sdl)).toEqual(needs);
});

test.each<[what: string, sdl: string]>([
  ['changes nothing', OFFERS],
  ['goes away', ''],
  ['adds a field to a type of another', guest('more(a: Int): Int @p')],
  [
    'changes, deprecates and describes what is its own',
    OFFERS.replace('price: Int  g', '"In cents." price: Int! @deprecated  g')
      .replace('NEW OLD', 'NEW BEST')
      .replace('sort: Sort = NEW', 'sort: Sort = BEST, all: Boolean')
      .replace('implements Sold ', ''),
  ],
  [
    'declares values and scalars that others have',
    more(`
    type PageInfo @shareable { more: Boolean!  end: String }  scalar Day  ${WISH}
    extend type Offer { page: PageInfo  until: Day }`),
  ],
  ['extends a second type', more('type Room @key(fields: "number") { number: Int!  view: Int }')],
  [
    'refers to a type by another key',
    OFFERS.replace('"id"', '"email"').replace('id: ID!', 'email: String'),
  ],
  [
    'has a union and a requirement of its own',
    more(`
    union Hit = Offer | Guest  extend type Query { hit: Hit }`),
  ],
  [
    'is described otherwise where others have more votes',
    OFFERS.replace('id: ID!', '"Ours." id: ID!'),
  ],
])('a subgraph needs none if it %s', (_what, sdl) => {
  expect(needed(sdl || undefined)).toEqual([]);
});

test('what was approved needs no approval again, and is given back without one', () => {
  const share = '@override(from: "scores", label: "percent(1)")';
  const taken = (how: string, rest = '') => guest(`${POINTS} ${how} ${rest}`, '', 'scalar Day');
  const shared = contentOf(taken(share));
  expect(needed(taken(share, '@deprecated'), shared)).toEqual(['shape Guest.points scores']);
  expect(needed(taken('@override(from: "scores")'), shared)).toEqual([
    'resolves Guest.points scores',
  ]);
  expect(needed(OFFERS, shared)).toEqual([]);
  const whole = contentOf(taken('@override(from: "scores")'));
  expect(needed(undefined, whole)).toEqual([]);
  const reads = contentOf(guest(`${NAME}  hello: String @requires(fields: "name")`));
  const again = `${NAME}  hello: String @requires(fields: "name")  x: Int @requires(fields: "name")`;
  expect(needed(guest(again), reads)).toEqual([]);
  const otherwise = `${NAME}  hello: String @requires(fields: "name(short: true)")`;
  expect(needed(guest(otherwise), reads)).toEqual(['reads Guest.name guests']);
});

test('going back to what was approved needs approval of those alone who have changed since', () => {
  const stars = (directive: string) => `stars: Int @shareable ${directive}`;
  const scoresWith = (field: string) => SCORES.replace('id: ID!  ', `id: ID!  ${field}  `);
  const taking = guest(
    `${stars('')}  points(on: Day): Int! @override(from: "scores")`,
    '',
    'scalar Day',
  );
  const approved = contentOf(taking);
  const back = (scores: string) =>
    needsOf(
      contentOf(OFFERS, undefined, scores),
      contentOf(taking, 'https://o.example', scores),
      'offers',
      { approved },
    ).map(summary);
  expect(back(SCORES)).toEqual([]);
  expect(back(scoresWith(stars('')))).toEqual([
    'resolves Guest.stars scores',
    'resolves Guest.points scores',
  ]);
  const removed = needsOf(contentOf(undefined), contentOf(taking), 'offers', { approved });
  expect(removed.map(summary)).toEqual(['resolves Guest.points scores']);
});

test.each<[what: string, offers: string, scores: string, ...needs: string[]]>([
  [
    'a type',
    more('type Extra { text: String @shareable @p }'),
    'type Extra { text: String @shareable }',
    'shape Extra.text scores',
  ],
  [
    'a field that it reads',
    guest('seen: String @external  x: String @requires(fields: "seen")'),
    '',
    'reads Guest.seen scores',
  ],
])('going back needs approval of those who have %s since', (_what, offers, scores, ...needs) => {
  const since = SCORES.replace('id: ID!  ', 'id: ID!  seen: String  ') + scores;
  // The names were the publisher's own, or of another subgraph of its owner.
  const owned = offers
    .replace('seen: String @external', 'seen: String')
    .replace(/ @requires.*"\)/, '');
  const approved = contentOf(owned);
  const back = needsOf(
    contentOf(OFFERS, undefined, since),
    contentOf(offers, 'https://o.example', since),
    'offers',
    { approved },
  );
  expect(back.map(summary)).toEqual(needs);
});

const EXTRA = 'type Extra @shareable { text: String @p  more: Int }';
const PEOPLE = `interface Person { name: String }
  type Host implements Person { name: String }  type Boss { name: String }`;
const HOST = guest(
  'host: Person @external  x: String @requires(fields: "host { name }")',
  '',
  'interface Person { name: String }  type Host implements Person { name: String @external }',
);

test.each<[what: string, offers: string, then: string, since: string, ...needs: string[]]>([
  ['nothing', more(EXTRA), EXTRA, `${EXTRA} type Other { text: String }`],
  ['a tag', more(EXTRA), EXTRA, EXTRA.replace('@p', ''), 'shape Extra.text scores'],
  ['a type', more(EXTRA), EXTRA, EXTRA.replace('Int', 'Int!'), 'shape Extra.more scores'],
  ['no interface', HOST, PEOPLE, PEOPLE],
  [
    'what implements an interface',
    HOST,
    PEOPLE,
    PEOPLE.replace('Boss', 'Boss implements Person'),
    'reads Guest.host scores',
    'reads Person.name scores',
    'reads Boss.name scores',
    'reads Host.name scores',
  ],
])('going back needs approval of those who have changed %s since', (_what, offers, ...others) => {
  const [then, since, ...needs] = others;
  const field = offers === HOST ? 'host: Person' : '';
  const scoresWith = (sdl: string) => SCORES.replace('id: ID!  ', `id: ID!  ${field}  `) + sdl;
  const approved = contentOf(offers, undefined, scoresWith(then));
  const scores = scoresWith(since);
  const back = needsOf(
    contentOf(OFFERS, undefined, scores),
    contentOf(offers, undefined, scores),
    'offers',
    { approved },
  );
  expect(back.map(summary)).toEqual(needs);
});

type Schemas = { theirs: string; offers: string; reader?: string };
const T = 'type Query { t: T }  type T @key(fields: "id") { id: ID!';
const V = 'type V @key(fields: "a") { a: Int  b: Int @shareable }';
const OWNER = 'type T @key(fields: "owner { name }"';
const FOO = 'type Foo @key(fields: "id") { id: ID!  name: String';
const INFO = `type T @key(fields: "id info { a }") { id: ID!  info: Info }
  type Info @shareable { a: Int  b: Int }`;
const TRIPS = `type Query { trip: Trip }
  type Trip @key(fields: "id") @key(fields: "from { id } to { code }") { id: ID!  from: P  to: P }
  type P { id: ID!  code: String }`;
const PART = 'type P { id: ID! @external  code: String @external }';
const requiringOf = (set: string) => `type Trip @key(fields: "id") {
  id: ID!  from: P @external  to: P @external  x: Int @requires(fields: "${set}")
} ${PART}`;
const KEYS = '@key(fields: "id") @key(fields: "email")';
const PERSON = `type Query { p: Person }  interface Thing @key(fields: "id") { id: ID! }
  type Person implements Thing ${KEYS} { id: ID!  email: String @shareable  name: String }`;
const personOf = (keys: string, fields: string) => `type Person ${keys} { ${fields}  x: Int }`;
const BY_ID = personOf('@key(fields: "id")', 'id: ID!');
const ALL_THINGS = 'type Thing @key(fields: "id") @interfaceObject { id: ID!  rank: Int }';
const REQUIRING =
  'type T @key(fields: "id") { id: ID!  sum: Int @external  x: Int @requires(fields: "sum") }';
const KEYED = 'type T @key(fields: "sum") { sum: Int @external  x: Int }';
const GHOST = 'type T @key(fields: "id") { id: ID!  sum: Int @override(from: "theirs") }';
const GHOST_KEY = GHOST.replace('type T', 'type T @key(fields: "sum")');

test.each<[what: string, before: Schemas, offers: string, need: string, then: Schemas | undefined]>(
  [
    [
      'that is a value so far, once it gains a key',
      { theirs: `type Query { v: V }  ${V}`, offers: 'type V { b: Int @shareable }' },
      V,
      'resolves V.b theirs',
      undefined,
    ],
    [
      'in the key of another type alone',
      { theirs: `type Query { t: T }  ${OWNER}) { owner: Foo }  ${FOO} }`, offers: 'scalar Own' },
      `${OWNER}, resolvable: false) { owner: Foo }  ${FOO} @shareable }`,
      'resolves Foo.name theirs',
      undefined,
    ],
    [
      'that it has overridden before there was one, by going back',
      { theirs: `${T}  sum: Int }`, offers: 'scalar Own' },
      GHOST,
      'resolves T.sum theirs',
      { theirs: `${T} }`, offers: GHOST },
    ],
    [
      'that it overrides before there is one',
      { theirs: `${T} }`, offers: 'scalar Own' },
      GHOST,
      'resolves T.sum theirs',
      undefined,
    ],
    [
      'that another one requires, if it was its own',
      { theirs: `${T}  sum: Int }`, offers: GHOST, reader: REQUIRING },
      'scalar Own',
      'reads reader theirs',
      undefined,
    ],
    [
      'that another one has as a key, if it was its own',
      { theirs: `${T}  sum: Int }`, offers: GHOST_KEY, reader: KEYED },
      'scalar Own',
      'reads reader theirs',
      undefined,
    ],
    [
      'that is in its key with less than it resolves',
      { theirs: `type Query { t: T }  ${INFO}`, offers: 'scalar Own' },
      INFO,
      'resolves T.info theirs',
      undefined,
    ],
    [
      'of an object of which another part is in a key',
      { theirs: TRIPS, offers: 'scalar Own' },
      `type Trip @key(fields: "from { id code }") { from: P @external  x: Int } ${PART}`,
      'reads P.code theirs',
      undefined,
    ],
    [
      'of another object of the same type than before',
      { theirs: TRIPS, offers: requiringOf('from { id code } to { id }') },
      requiringOf('from { id } to { id code }'),
      'reads P.code theirs',
      undefined,
    ],
    [
      'by another key, after its own is no longer that of all',
      {
        theirs: PERSON,
        offers: BY_ID,
        reader: 'type Person @key(fields: "email") { email: String  id: ID! @shareable }',
      },
      personOf(KEYS, 'id: ID!  email: String @external'),
      'resolves Person.id reader theirs',
      undefined,
    ],
    [
      'by another key, after an interface object came',
      { theirs: PERSON, offers: BY_ID, reader: ALL_THINGS },
      personOf(KEYS, 'id: ID!  email: String @external'),
      'resolves Person.id reader theirs',
      undefined,
    ],
    [
      'by a key with less than before',
      { theirs: PERSON, offers: personOf('@key(fields: "id email")', 'id: ID!  email: String') },
      personOf('@key(fields: "id")', 'id: ID!  email: String @shareable'),
      'resolves Person.email theirs',
      undefined,
    ],
    [
      'by a key that it could not be asked by',
      {
        theirs: PERSON,
        offers: `type Person @key(fields: "id", resolvable: false) {
          id: ID!  email: String @shareable
        }`,
      },
      personOf('@key(fields: "id")', 'id: ID!  email: String @shareable'),
      'resolves Person.email theirs',
      undefined,
    ],
    [
      'that another one has by a key that came while it was overridden',
      {
        theirs: PERSON,
        offers: 'type Person @key(fields: "id") { id: ID! @override(from: "reader")  y: Int }',
        reader: personOf(KEYS, 'id: ID!  email: String @external'),
      },
      'scalar Own',
      'resolves Person.id theirs',
      undefined,
    ],
    [
      'of every object of an interface, which its type is',
      { theirs: PERSON, offers: BY_ID, reader: ALL_THINGS },
      `interface Thing @key(fields: "id") { id: ID! }  ${BY_ID.replace('Person', 'Person implements Thing')}`,
      'reads Thing reader theirs',
      undefined,
    ],
    [
      'of all, which is the description of the schema',
      { theirs: 'type Query { t: Int }', offers: 'scalar Own' },
      '"Everything." schema { query: Query }  type Query { o: Int }',
      'shape schema theirs',
      undefined,
    ],
  ],
)('a subgraph needs approval for a part %s', (_what, before, offers, need, then) => {
  const contentWith = (given: Schemas) => {
    const schemas = Object.fromEntries(
      Object.entries(given).map(([name, sdl]) => [name, `${LINK} ${sdl}`]),
    );
    const sources = Object.entries(schemas).map(([name, sdl]) => ({ name, sdl, file: name }));
    const subgraphs = sources.map(({ name }) => ({
      name,
      url: 'https://o.example',
      batching: false,
      codes: [],
    }));
    return { schemas, subgraphs, supergraph: composeSupergraph(sources) };
  };
  const after = contentWith({ ...before, offers });
  const past = then && { approved: contentWith(then) };
  expect(needsOf(contentWith(before), after, 'offers', past).map(summary)).toContain(need);
});

test('another scheme, host or port is for an operator alone, and another path is not', () => {
  const moved = (url: string) => needsOf(before, contentOf(OFFERS, url), 'offers').map(summary);
  for (const url of [
    'http://offers.example/graphql',
    'https://o.example',
    'https://offers.example:1',
  ])
    expect(moved(url)).toEqual(['url']);
  expect(moved('https://offers.example/v2?x=1')).toEqual([]);
});

test('what a subgraph of the service loses is for an operator alone', () => {
  const sdl = (name: string, rest: string) => {
    return { name, sdl: `${LINK} type Query { ${name}: Int ${rest} }`, file: name };
  };
  const content = (rest: string) => {
    const sources = [sdl('members', 'one: Int  two: Int'), sdl('offers', rest)];
    return { schemas: {}, subgraphs: [], supergraph: composeSupergraph(sources) };
  };
  const after = content('one: Int @override(from: "members")');
  expect(needsOf(content(''), after, 'offers')).toEqual([
    {
      rule: 'resolves',
      what: 'Query.one would be resolved by offers instead of members',
      losing: [],
    },
  ]);
});
