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
