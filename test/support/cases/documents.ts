// Documents built to hurt: each a way to make parsing, validating, planning or answering expensive, within the 64 KiB of a body.

const repeat = (count: number, piece: (index: number) => string, between = ' ') =>
  Array.from({ length: count }, (_, index) => piece(index)).join(between);

const member = (selection: string) =>
  `{ memberByEmail(email: "both@example.com") { ${selection} } }`;
const read = (head: string, selection: string) => `query (${head}) ${member(selection)}`;
const booleans = (count: number) => repeat(count, (n) => `$v${n}: Boolean!`);
const input = (literal: string) => `mutation { enrollMember(input: ${literal}) { created } }`;

/** By name. Those that take variables take `$v0` to `$v299`, all true. */
export const HURTING: Record<string, string> = {
  'an operation beside another whose fragments double at each step': `query Asked { __typename } query Other { ...F0 } ${repeat(70, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 2} x: __typename }`)}
    fragment F70 on Query { __typename } fragment F71 on Query { __typename }`,
  'one field a thousand times': member(repeat(980, () => 'email')),
  'aliases by the hundred': member(repeat(320, (n) => `a${n}: email`)),
  'ten look-ups of thirty aliases': `{ ${repeat(10, (a) => `a${a}: memberByEmail(email: "both@example.com") { ${repeat(28, (n) => `b${n}: points`)} }`)} }`,
  'ten look-ups of one fragment of ninety aliases, under conditions': `query (${booleans(4)}) { ${repeat(10, (a) => `a${a}: memberByEmail(email: "both@example.com") { ...F }`)} }
    fragment F on PartnerMemberRead { ${repeat(86, (n) => `b${n}: points`)} ${repeat(4, (n) => `c${n}: tier @include(if: $v${n})`)} }`,
  'a thousand look-ups': `{ ${repeat(1_000, (n) => `a${n}: memberByEmail(email:"x"){email}`)} }`,
  'inline fragments side by side': member(repeat(240, () => '...{email}')),
  'inline fragments in one another': member(
    `${repeat(240, () => '...{')} email ${'}'.repeat(240)}`,
  ),
  'fields in one another': `${'{ a '.repeat(490)}${'}'.repeat(490)}`,
  'an @include on each of sixty fields': read(
    booleans(60),
    repeat(60, (n) => `a${n}: tier @include(if: $v${n})`),
  ),
  'conditions on look-ups and within': `query (${booleans(30)}) { ${repeat(
    10,
    (n) =>
      `a${n}: memberByEmail(email: "both@example.com") @include(if: $v${n}) { ... @include(if: $v${n + 10}) { tier } ... @skip(if: $v${n + 20}) { points } }`,
  )} }`,
  'conditions in one another': read(
    booleans(40),
    `${repeat(40, (n) => `... @include(if: $v${n}) {`)} tier ${'}'.repeat(40)}`,
  ),
  'directives by the hundred': member(`email ${repeat(190, () => '@include(if: true)')}`),
  'unknown directives by the hundred': member(`email ${repeat(480, (n) => `@d${n}`)}`),
  'unknown fields by the hundred': member(repeat(900, (n) => `emaill${n}`)),
  'unknown fields that resemble the known': member(
    repeat(300, () => 'memberIdd firstNamee lastNamee'),
  ),
  'unknown fragments': `{ ${repeat(300, (n) => `...F${n}`)} }`,
  'fragments that double at each step': `${member('...F0')} ${repeat(
    60,
    (n) => `fragment F${n} on PartnerMemberRead { email ...F${n + 1} ...F${n + 1} }`,
  )} fragment F60 on PartnerMemberRead { email }`,
  'fragments in a circle': `{ ...F0 } ${repeat(100, (n) => `fragment F${n} on Query { ...F${(n + 1) % 100} ...F${(n + 2) % 100} }`)}`,
  'a fragment within itself': '{ ...F } fragment F on Query { a: __typename ...F ...F ...F }',
  'fragments to compare in pairs': `${member(repeat(100, (n) => `...F${n}`))} ${repeat(100, (n) => `fragment F${n} on PartnerMemberRead { email }`)}`,
  'fragments of look-ups, each in the one before': `{ ...A0 } ${repeat(
    25,
    (n) =>
      `fragment A${n} on Query { a${n % 8}: memberByEmail(email: "both@example.com") { email tier } ...A${n + 1} }`,
  )} fragment A25 on Query { __typename }`,
  'fragments nobody uses': `{ __typename } ${repeat(120, (n) => `fragment F${n} on Query { __typename }`)}`,
  'fragments of one name': `{ ...F } ${repeat(120, () => 'fragment F on Query { __typename }')}`,
  'fields of one name and other arguments': `{ ${repeat(9, (n) => `a: memberByEmail(email: "${n}") { tier }`)} }`,
  'introspection of one field again and again': `{ __schema { types { ${repeat(240, () => 'fields { name }')} } } }`,
  'introspection under aliases': `{ __schema { types { ${repeat(160, (n) => `a${n}: fields { name }`)} } } }`,
  'introspection of types under aliases': `{ __schema { ${repeat(190, (n) => `a${n}: types { name }`)} } }`,
  'introspection, wide and deep': `{ __schema { ${repeat(20, (a) => `a${a}: types { ${repeat(8, (b) => `b${b}: fields { name args { name } }`)} }`)} } }`,
  'introspection in circles': `{ __schema { types { ${'fields { type { '.repeat(6)} name ${'} } '.repeat(6)} } } }`,
  'introspection of ofType without an end': `{ __schema { types { fields { type { ${'ofType { '.repeat(200)} name ${'} '.repeat(200)} } } } } }`,
  'introspection through fragments': `{ __schema { types { ...F } } } fragment F on __Type { fields { type { ...G } } } fragment G on __Type { possibleTypes { ...H } } fragment H on __Type { interfaces { name } }`,
  'a name of sixty thousand letters': `{ ${'a'.repeat(60_000)} }`,
  'a string of sixty thousand letters': `{ memberByEmail(email: "${'a'.repeat(60_000)}") { email } }`,
  'a block string of fifteen thousand lines': `{ memberByEmail(email: """${'\n '.repeat(15_000)}""") { email } }`,
  'a comment of sixty thousand letters': `{ __typename } # ${'a'.repeat(60_000)}`,
  'commas without an end': `{ __typename ${','.repeat(60_000)} }`,
  'a number of sixty thousand digits': `{ memberByEmail(email: ${'1'.repeat(60_000)}) { email } }`,
  'escapes without an end': `{ memberByEmail(email: "${'\\u0041'.repeat(8_000)}") { email } }`,
  'variables nobody uses': `query (${repeat(240, (n) => `$v${n}: String`)}) { __typename }`,
  'variables that are used by the hundred': read(
    booleans(100),
    repeat(100, (n) => `a${n}: tier @skip(if: $v${n})`),
  ),
  'operations by the hundred': repeat(150, (n) => `query Q${n} { __typename }`),
  'a list of lists of lists': `{ memberByEmail(email: ${'['.repeat(480)}${']'.repeat(480)}) { email } }`,
  'an object in an object in an object': input(`${'{ email: '.repeat(300)} "x" ${'}'.repeat(300)}`),
  'an object of many fields': input(`{ ${repeat(240, (n) => `a${n}: 1`)} }`),
  'a type of many lists': `query ($v0: ${'['.repeat(480)}Int${']'.repeat(480)}) { __typename }`,
  'a default of many lists': `query ($v: [[Int]] = ${'['.repeat(470)}${']'.repeat(470)}) { __typename }`,
  'a type system instead of a query': repeat(150, (n) => `type T${n} { a: Int }`),
  'sixty thousand braces': '{'.repeat(60_000),
  'sixty thousand brackets': `{ a(b: ${'['.repeat(60_000)}`,
};

/** True for each of the variables that the documents take. */
export const ALL_TRUE = Object.fromEntries(
  Array.from({ length: 300 }, (_, index) => [`v${index}`, true]),
);
