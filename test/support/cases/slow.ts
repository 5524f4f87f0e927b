// Requests that take as much time as they can, many of which are refused in the end.
import { field, type HeavyRequest, repeat } from './heavy.ts';

const EMAIL = { email: 'both@example.com' };
const MEMBER = 'memberByEmail(email: $email)';

const query = (text: string, variables: Record<string, unknown> = EMAIL): HeavyRequest => ({
  query: text,
  variables,
});
const read = (round: number, selections: string, rest = '') =>
  query(`query ($email: String!) { x${round}: ${MEMBER} { ${selections} } } ${rest}`);
const reads = (round: number, selections: (index: number) => string, rest = '') =>
  query(
    `query ($email: String!) { ${repeat(10, (n) => `x${round}n${n}: ${MEMBER} { ${selections(n)} }`)} } ${rest}`,
  );
const fragments = (count: number, body: (index: number) => string, type = 'PartnerMemberRead') =>
  repeat(count, (n) => `fragment F${n} on ${type} { ${body(n)} }`);
const conditions = (count: number) => repeat(count, (n) => `$v${n}: Boolean = true`);

/** By what takes the time. A different round is a different document. */
export const SLOW: Record<string, (round: number) => HeavyRequest> = {
  'a chain of fragments': (round) =>
    read(
      round,
      '...F0',
      fragments(50, (n) => `${field(n)} ${n < 49 ? `...F${n + 1}` : ''}`),
    ),
  'fragments that are compared in pairs': (round) =>
    read(
      round,
      repeat(50, (n) => `...F${n}`),
      fragments(50, (n) => `a: email b${n}: tier c: points`),
    ),
  'fragments that are never used': (round) =>
    read(
      round,
      'email',
      fragments(50, (n) => `x${n}: ${MEMBER} { email }`, 'Query'),
    ),
  'a fragment within itself': (round) =>
    read(
      round,
      '...F0',
      fragments(50, (n) => `...F${(n + 1) % 50} ...F${(n + 7) % 50}`),
    ),
  'the same fields twice in ten look-ups': (round) =>
    reads(
      round,
      () => '...F ...F ...G',
      `fragment F on PartnerMemberRead { ${repeat(25, (m) => `a${m}: ${field(m)}`)} }
       fragment G on PartnerMemberRead { ${repeat(25, (m) => `a${m}: ${field(m)}`)} }`,
    ),
  'the same look-up again': (round) =>
    query(
      `query ($email: String!) { ${repeat(10, () => `x${round}: ${MEMBER} { ${repeat(25, (m) => `a${m}: ${field(m)}`)} }`)} }`,
    ),
  'type names': (round) =>
    reads(
      round,
      () => '...F',
      `fragment F on PartnerMemberRead { ${repeat(88, (n) => `t${n}: __typename`)} }`,
    ),
  'conditions in one another': (round) =>
    query(
      `query ($email: String!, ${conditions(30)}) { x${round}: ${MEMBER} { ${Array.from({ length: 38 }, (_, n) => `... @include(if: $v${n % 30}) { a${n}: ${field(n)} `).join('')} ${'}'.repeat(38)} } }`,
    ),
  'conditions on look-ups': (round) =>
    query(
      `query ($email: String!, ${conditions(10)}) { ${repeat(10, (k) => `x${round}n${k}: ${MEMBER} @include(if: $v${k}) { ${repeat(6, (n) => `${field(n)} @skip(if: $v${(k + n) % 10})`)} }`)} }`,
      { ...EMAIL, v3: false },
    ),
  'conditions on inline fragments': (round) =>
    query(
      `query ($email: String!, ${conditions(40)}) { ${repeat(10, (k) => `x${round}n${k}: ${MEMBER} { ${repeat(5, (n) => `... @include(if: $v${(k * 4 + n) % 40}) { ${field(n)} }`)} }`)} }`,
    ),
  'one directive again and again': (round) =>
    query(
      `query ($email: String!, $a: Boolean = true) { x${round}: ${MEMBER} { ${repeat(90, () => 'email @include(if: $a)')} } }`,
    ),
  'unknown fields': (round) =>
    read(
      round,
      repeat(900, (n) => `f${n}r${round}`),
    ),
  'unknown arguments': (round) =>
    query(`{ x${round}: memberByEmail(${repeat(300, (n) => `a${n}: 1`)}) { email } }`, {}),
  'a long list': (round) =>
    query(`{ x${round}: memberByEmail(email: [${repeat(970, () => '1')}]) { email } }`, {}),
  'a deep list': (round) =>
    query(
      `{ x${round}: memberByEmail(email: ${'['.repeat(480)}${']'.repeat(480)}) { email } }`,
      {},
    ),
  'a string of line breaks': (round) =>
    query(`{ x${round}: memberByEmail(email: """${' \n'.repeat(20_000)}""") { email } }`, {}),
  'a string of escapes': (round) =>
    query(`{ x${round}: memberByEmail(email: "${'\\u0041'.repeat(9_000)}") { email } }`, {}),
  'many operations': (round) => ({
    query: `${repeat(70, (n) => `query A${n} { ...F }`)} fragment F on Query {
      x${round}: memberByEmail(email: "a") { email } ${repeat(8, (n) => `t${n}: __typename`)} }`,
    operationName: 'A1',
    variables: {},
  }),
  'an input of unknown fields': (round) =>
    query(
      `mutation ($input: EnrollMemberInput!) { x${round}: enrollMember(input: $input) { created } }`,
      {
        input: Object.fromEntries(Array.from({ length: 5_500 }, (_, n) => [`f${n}`, 1])),
      },
    ),
  'a deep input': (round) =>
    query(
      `mutation ($input: EnrollMemberInput!) { x${round}: enrollMember(input: $input) { created } }`,
      {
        input: { email: JSON.parse('['.repeat(3_000) + ']'.repeat(3_000)) },
      },
    ),
  'introspection of everything': (round) =>
    query(
      `{ x${round}: __schema { types { ...T fields(includeDeprecated: true) { name description args { ...A } type { ...R } isDeprecated deprecationReason }
      inputFields { ...A } interfaces { ...R } enumValues(includeDeprecated: true) { name description } possibleTypes { ...R } }
      directives { name description locations args { ...A } } queryType { name } mutationType { name } } }
      fragment T on __Type { kind name description specifiedByURL }
      fragment A on __InputValue { name description type { ...R } defaultValue }
      fragment R on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }`,
      {},
    ),
  'introspection of fields': (round) =>
    query(
      `{ x${round}: __schema { ${repeat(22, (n) => `t${n}: types { f: fields { a: args { b: type { c: ofType { enumValues { name } } } } } }`)} } }`,
      {},
    ),
  'introspection of arguments': (round) =>
    query(
      `{ x${round}: __schema { types { fields { args { type { ofType { ${repeat(50, (n) => `a${n}: name`)} ${repeat(20, (n) => `b${n}: enumValues { name description }`)} } } }
        type { ofType { enumValues { name } ${repeat(50, (n) => `a${n}: name`)} } } ${repeat(50, (n) => `a${n}: name`)} } } } }`,
      {},
    ),
  'introspection of lists': (round) =>
    query(
      `{ x${round}: __schema { ${repeat(60, (n) => `t${n}: types { ${n % 2 ? 'name' : 'kind'} enumValues { name isDeprecated } }`)} } }`,
      {},
    ),
};
