// Documents that try to make parsing, validation, planning or execution expensive, within 64 KiB.

const repeat = (count: number, piece: (index: number) => string, between = ' ') =>
  Array.from({ length: count }, (_, index) => piece(index)).join(between);

const member = (selection: string) =>
  `{ memberByEmail(email: "both@example.com") { ${selection} } }`;
const read = (head: string, selection: string) => `query (${head}) ${member(selection)}`;
const booleans = (count: number) => repeat(count, (n) => `$v${n}: Boolean!`);
const input = (literal: string) => `mutation { enrollMember(input: ${literal}) { created } }`;

/** By name. Their variables are `$v0` to `$v299`, all true. */
export const EXPENSIVE_DOCUMENTS: Record<string, string> = {
  'one of two operations, where the fragments of the other double at each step': `query Asked { __typename } query Other { ...F0 } ${repeat(70, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 2} x: __typename }`)}
    fragment F70 on Query { __typename } fragment F71 on Query { __typename }`,
  'one field a thousand times': member(repeat(980, () => 'email')),
  'hundreds of aliases': member(repeat(320, (n) => `a${n}: email`)),
  'ten look-ups of thirty aliases each': `{ ${repeat(10, (a) => `a${a}: memberByEmail(email: "both@example.com") { ${repeat(28, (n) => `b${n}: points`)} }`)} }`,
  'ten look-ups of one fragment with ninety aliases, some under conditions': `query (${booleans(4)}) { ${repeat(10, (a) => `a${a}: memberByEmail(email: "both@example.com") { ...F }`)} }
    fragment F on PartnerMemberRead { ${repeat(86, (n) => `b${n}: points`)} ${repeat(4, (n) => `c${n}: tier @include(if: $v${n})`)} }`,
  'a thousand look-ups': `{ ${repeat(1_000, (n) => `a${n}: memberByEmail(email:"x"){email}`)} }`,
  'inline fragments side by side': member(repeat(240, () => '...{email}')),
  'nested inline fragments': member(`${repeat(240, () => '...{')} email ${'}'.repeat(240)}`),
  'nested fields': `${'{ a '.repeat(490)}${'}'.repeat(490)}`,
  'sixty fields with an @include each': read(
    booleans(60),
    repeat(60, (n) => `a${n}: tier @include(if: $v${n})`),
  ),
  'conditions on look-ups and inside them': `query (${booleans(30)}) { ${repeat(
    10,
    (n) =>
      `a${n}: memberByEmail(email: "both@example.com") @include(if: $v${n}) { ... @include(if: $v${n + 10}) { tier } ... @skip(if: $v${n + 20}) { points } }`,
  )} }`,
  'nested conditions': read(
    booleans(40),
    `${repeat(40, (n) => `... @include(if: $v${n}) {`)} tier ${'}'.repeat(40)}`,
  ),
  'hundreds of directives': member(`email ${repeat(190, () => '@include(if: true)')}`),
  'hundreds of unknown directives': member(`email ${repeat(480, (n) => `@d${n}`)}`),
  'hundreds of unknown fields': member(repeat(900, (n) => `emaill${n}`)),
  'unknown fields that resemble known ones': member(
    repeat(300, () => 'memberIdd firstNamee lastNamee'),
  ),
  'unknown fragments': `{ ${repeat(300, (n) => `...F${n}`)} }`,
  'fragments that double at each step': `${member('...F0')} ${repeat(
    60,
    (n) => `fragment F${n} on PartnerMemberRead { email ...F${n + 1} ...F${n + 1} }`,
  )} fragment F60 on PartnerMemberRead { email }`,
  'fragments that form a cycle': `{ ...F0 } ${repeat(100, (n) => `fragment F${n} on Query { ...F${(n + 1) % 100} ...F${(n + 2) % 100} }`)}`,
  'a fragment that spreads itself': '{ ...F } fragment F on Query { a: __typename ...F ...F ...F }',
  'fragments whose fields must be compared in pairs': `${member(repeat(100, (n) => `...F${n}`))} ${repeat(100, (n) => `fragment F${n} on PartnerMemberRead { email }`)}`,
  'fragments with look-ups, each spreading the next': `{ ...A0 } ${repeat(
    25,
    (n) =>
      `fragment A${n} on Query { a${n % 8}: memberByEmail(email: "both@example.com") { email tier } ...A${n + 1} }`,
  )} fragment A25 on Query { __typename }`,
  'unused fragments': `{ __typename } ${repeat(120, (n) => `fragment F${n} on Query { __typename }`)}`,
  'fragments with the same name': `{ ...F } ${repeat(120, () => 'fragment F on Query { __typename }')}`,
  'fields with the same name and different arguments': `{ ${repeat(9, (n) => `a: memberByEmail(email: "${n}") { tier }`)} }`,
  'introspection of one field many times': `{ __schema { types { ${repeat(240, () => 'fields { name }')} } } }`,
  'introspection under aliases': `{ __schema { types { ${repeat(160, (n) => `a${n}: fields { name }`)} } } }`,
  'introspection of types under aliases': `{ __schema { ${repeat(190, (n) => `a${n}: types { name }`)} } }`,
  'introspection, wide and deep': `{ __schema { ${repeat(20, (a) => `a${a}: types { ${repeat(8, (b) => `b${b}: fields { name args { name } }`)} }`)} } }`,
  'introspection of types through their fields': `{ __schema { types { ${'fields { type { '.repeat(6)} name ${'} } '.repeat(6)} } } }`,
  'introspection of deeply nested ofType': `{ __schema { types { fields { type { ${'ofType { '.repeat(200)} name ${'} '.repeat(200)} } } } } }`,
  'introspection through fragments': `{ __schema { types { ...F } } } fragment F on __Type { fields { type { ...G } } } fragment G on __Type { possibleTypes { ...H } } fragment H on __Type { interfaces { name } }`,
  'a name of sixty thousand letters': `{ ${'a'.repeat(60_000)} }`,
  'a string of sixty thousand letters': `{ memberByEmail(email: "${'a'.repeat(60_000)}") { email } }`,
  'a block string of fifteen thousand lines': `{ memberByEmail(email: """${'\n '.repeat(15_000)}""") { email } }`,
  'a comment of sixty thousand letters': `{ __typename } # ${'a'.repeat(60_000)}`,
  'sixty thousand commas': `{ __typename ${','.repeat(60_000)} }`,
  'a number of sixty thousand digits': `{ memberByEmail(email: ${'1'.repeat(60_000)}) { email } }`,
  'thousands of escape sequences': `{ memberByEmail(email: "${'\\u0041'.repeat(8_000)}") { email } }`,
  'unused variables': `query (${repeat(240, (n) => `$v${n}: String`)}) { __typename }`,
  'a hundred variables in use': read(
    booleans(100),
    repeat(100, (n) => `a${n}: tier @skip(if: $v${n})`),
  ),
  'a hundred and fifty operations': repeat(150, (n) => `query Q${n} { __typename }`),
  'nested lists': `{ memberByEmail(email: ${'['.repeat(480)}${']'.repeat(480)}) { email } }`,
  'nested objects': input(`${'{ email: '.repeat(300)} "x" ${'}'.repeat(300)}`),
  'an object with many fields': input(`{ ${repeat(240, (n) => `a${n}: 1`)} }`),
  'a type of nested lists': `query ($v0: ${'['.repeat(480)}Int${']'.repeat(480)}) { __typename }`,
  'a default value of nested lists': `query ($v: [[Int]] = ${'['.repeat(470)}${']'.repeat(470)}) { __typename }`,
  'type definitions instead of an operation': repeat(150, (n) => `type T${n} { a: Int }`),
  'sixty thousand braces': '{'.repeat(60_000),
  'sixty thousand brackets': `{ a(b: ${'['.repeat(60_000)}`,
};

/** Variables for any of the documents. */
export const ALL_TRUE = Object.fromEntries(
  Array.from({ length: 300 }, (_, index) => [`v${index}`, true]),
);
