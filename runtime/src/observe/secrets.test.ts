// What counts as a key or token in a text, and what does not.
import { hasSecret, withoutSecrets } from './secrets.ts';

const RANDOM = 'qZ3xT0c8Vb1Nm5Kj7Hg9Fd2Sa4Lp6WoIuYtRe_-AaBb';
const JWT = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJtLWJvdGgifQ.c2lnbmF0dXJl';

const SECRETS: [string, string][] = [
  ['a partner key', `pk_test_${RANDOM.slice(0, 36)}`],
  ['a key of the other environment', `pk_live_${RANDOM.slice(0, 36)}`],
  ['a key of another kind', `mk_live_${RANDOM.slice(0, 36)}`],
  ['a key in capitals', `PK_TEST_${RANDOM.slice(0, 36).toUpperCase()}`],
  ['a key that was cut off', 'pk_test_qZ3'],
  ...['ml', 'ec', 'eu', 'co', 'in', 'Ml'].map((prefix): [string, string] => [
    `a mailed token ${prefix}_`,
    `${prefix}_${RANDOM}`,
  ]),
  ['an ID token', JWT],
  ['a part of an ID token', JWT.split('.')[0] ?? ''],
];

test.each(SECRETS)('%s is recognized wherever it stands, and taken out whole', (_, secret) => {
  for (const [before, after] of [
    ['', ''],
    ['req-', ''],
    ['trace.', '.7'],
    ['x', ''],
    ['/graphql?key=', '&a=b'],
    ['Bearer ', ' {"a":1}'],
  ] as const) {
    const text = before + secret + after;
    expect(hasSecret(text)).toBe(true);
    const rest = withoutSecrets(text);
    expect(rest.startsWith(`${before}withheld`)).toBe(true);
    expect(rest).not.toContain(secret.slice(8));
  }
});

test.each([
  'tL2d16ULX1DZ-c0',
  '3f0a6c1e-8c1b-4a59-9a7e-0f8d7c6b5a49',
  '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  '01EYJ9Z3NDEKTSV4RRFFQ69G5F',
  'checkin_2026-05-15',
  'pk_prod_1',
  '{"level":"info","requestId":"a","status":200,"code":"SERVICE_UNAVAILABLE"}',
])('%s has no secret', (text) => {
  expect(hasSecret(text)).toBe(false);
  expect(withoutSecrets(text)).toBe(text);
});
