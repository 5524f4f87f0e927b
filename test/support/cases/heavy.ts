// Documents within all limits that take as much memory and time as their callers can make them.
export type HeavyRequest = {
  query: string;
  operationName?: string;
  variables: Record<string, unknown>;
};

export const repeat = (count: number, piece: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => piece(index)).join(' ');

export const FIELDS = ['memberId', 'email', 'firstName', 'lastName', 'tier', 'points'];
export const field = (index: number) => FIELDS[index % FIELDS.length];
const EMAIL = { email: 'both@example.com' };
const long = (name: string) => name.padEnd(120, '_');

const lookups = (selection: (index: number) => string, name = (index: number) => `r${index}`) =>
  repeat(10, (index) => `${name(index)}: memberByEmail(email: $email) { ${selection(index)} }`);

/** By what they are full of. A different round is a different document. */
export const HEAVY: Record<string, (round: number) => HeavyRequest> = {
  'plain look-ups': (round) => ({
    query: `query ($email: String!) { x${round}: memberByEmail(email: $email) { ${FIELDS.join(' ')} } }`,
    variables: EMAIL,
  }),
  'look-ups by another variable': (round) => ({
    query: `query ($email${round}: String!) { ${repeat(10, (n) => `r${n}: memberByEmail(email: $email${round}) { ${FIELDS.join(' ')} }`)} }`,
    variables: { [`email${round}`]: EMAIL.email },
  }),
  'aliases of leaves': (round) => ({
    query: `query ($email: String!) { ${lookups((n) => repeat(27, (m) => `b${m}r${round}n${n}: ${field(m)}`))} }`,
    variables: EMAIL,
  }),
  'selections by fragments': (round) => ({
    query: `query ($email: String!) { ${lookups(
      () => '...F',
      (n) => `r${round}n${n}`,
    )} } fragment F on PartnerMemberRead { ${repeat(90, (m) => `a${m}r${round}: ${field(m)}`)} }`,
    variables: EMAIL,
  }),
  'fields that repeat': (round) => ({
    query: `query A${round}($email: String!) { ${lookups(
      () => '...F',
      (n) => `r${round}n${n}`,
    )} } fragment F on PartnerMemberRead { ${repeat(80, field as (n: number) => string)} }`,
    variables: EMAIL,
  }),
  'directives on fields': (round) => ({
    query: `query ($email: String!, ${repeat(20, (v) => `$v${v}r${round}: Boolean = true`)}) { ${lookups(
      (n) => repeat(8, (m) => `${field(m)} @include(if: $v${(n * 8 + m) % 20}r${round})`),
    )} }`,
    variables: { ...EMAIL, [`v${round % 20}r${round}`]: false },
  }),
  'conditions on fragments': (round) => ({
    query: `query ($email: String!, $a: Boolean = true, $b: Boolean = true, $c: Boolean = true, $d: Boolean = true) { ${lookups(
      () => '...F @include(if: $a) ...G @skip(if: $b)',
      (n) => `r${round}n${n}`,
    )} } fragment F on PartnerMemberRead { ${repeat(4, (m) => `a${m}: ${field(m)} @include(if: $c)`)} }
    fragment G on PartnerMemberRead { ${repeat(4, (m) => `a${m}: ${field(m)} @skip(if: $d)`)} }`,
    variables: { ...EMAIL, b: false, d: false },
  }),
  'long names': (round) => ({
    query: `query ($email: String!) { ${lookups(
      (n) => repeat(20, (m) => `${long(`b${m}r${round}n${n}`)}: ${field(m)}`),
      (n) => long(`r${round}n${n}`),
    )} }`,
    variables: EMAIL,
  }),
  variables: (round) => ({
    query: `query (${repeat(55, (v) => `$${long(`v${v}r${round}`)}: Boolean = true`)} $email: String!) {
      memberByEmail(email: $email) {
        ${repeat(55, (v) => `a${v}: ${field(v)} @include(if: $${long(`v${v}r${round}`)})`)} } }`,
    variables: EMAIL,
  }),
  'inline fragments in one another': (round) => ({
    query: `query ($email: String!) { x${round}: memberByEmail(email: $email) { ${'... {'.repeat(300)} email ${'}'.repeat(300)} } }`,
    variables: EMAIL,
  }),
  'many fragments': (round) => ({
    query: `query ($email: String!) { x${round}: memberByEmail(email: $email) { ${repeat(50, (n) => `...F${n}`)} } }
      ${repeat(50, (n) => `fragment F${n} on PartnerMemberRead { a${n}: ${field(n)} ${field(n)} }`)}`,
    variables: EMAIL,
  }),
  'many operations': (round) => ({
    query: `${repeat(15, (n) => `query O${n}($email: String!) { x${n}r${round}: memberByEmail(email: $email) { ...F } }`)}
      fragment F on PartnerMemberRead { ${repeat(160, (m) => `a${m}r${round}: ${field(m)}`)} }`,
    operationName: `O${round % 15}`,
    variables: EMAIL,
  }),
  comments: (round) => ({
    query: `# ${'x'.repeat(60_000)}\nquery ($email: String!) { ${long(`comments${round}`)}: memberByEmail(email: $email) { ${long('email')}: email } }`,
    variables: EMAIL,
  }),
  'comments beyond Latin': (round) => ({
    query: `# ${'\u{1f388}'.repeat(14_000)}\nquery ($email: String!) { ${long(`comments${round}`)}: memberByEmail(email: $email) { ${long('email')}: email } }`,
    variables: EMAIL,
  }),
  introspection: (round) => ({
    query: `{ __schema { types { ${repeat(10, (n) => `...F${n}`)} } } } ${repeat(
      10,
      (n) => `fragment F${n} on __Type { ${repeat(28, (m) => `a${m}r${round}n${n}: name`)} }`,
    )}`,
    variables: {},
  }),
};

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
  'two operations, where the fragments of the other double at each step': (round) => ({
    query: `query A1 { x${round}: __typename } query Other { ...F0 } ${fragments(48, (n) => `...F${n + 1} ...F${(n + 2) % 48}`, 'Query')} fragment F48 on Query { __typename }`,
    operationName: 'A1',
    variables: {},
  }),
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
  'a string of line breaks': (round) =>
    query(`{ x${round}: memberByEmail(email: """${' \n'.repeat(20_000)}""") { email } }`, {}),
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
  'introspection of ten types': (round) =>
    query(
      `{ ${repeat(10, (n) => `x${round}n${n}: __type(name: "${n % 2 ? 'Query' : 'Mutation'}") { fields(includeDeprecated: true) { ...F } }`)} }
      fragment F on __Field { description args { name description type { ...R } defaultValue } type { ...R } ${repeat(20, (n) => `a${n}: name`)} }
      fragment R on __Type { ${repeat(20, (n) => `b${n}: name`)} ofType { enumValues { name } ofType { enumValues { name } } } }`,
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
