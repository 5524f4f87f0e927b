// No document makes the service answer much, work long or keep much, whatever its caller repeats.
import { type DeployedService, startDeployed } from '../support/service/deployed.ts';
import { type Probe, startProbe } from '../support/service/probe.ts';

const MEBIBYTE = 1024 * 1024;

let service: DeployedService;
let probe: Probe;

beforeAll(async () => {
  service = await startDeployed('one process', {
    NODE_OPTIONS: '--max-old-space-size=256',
    RATE_LIMIT_BUDGET: '1000000',
  });
  probe = await startProbe(service.send);
});
afterAll(() => service.close());

const repeat = (count: number, piece: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => piece(index)).join(' ');

describe('a long name under many spreads, which made 63 KB in to 467 MB out', () => {
  const attack = (name: string) =>
    `query A { __schema { types { ${repeat(130, () => '...F')} } } } fragment F on __Type { ${name}: name }`;

  test('names over 128 characters are refused', async () => {
    const { status, code } = await probe.during(() =>
      service.send({ query: attack('a'.repeat(61_000)) }),
    );
    expect([status, code]).toEqual([400, 'OPERATION_TOO_COMPLEX']);
    expect((await service.send({ query: attack('a'.repeat(129)) })).code).toBe(
      'OPERATION_TOO_COMPLEX',
    );
    expect((await service.send({ query: attack('a'.repeat(128)) })).status).toBe(200);
  });

  test.each([
    ['a field', (name: string) => `{ ${name} }`],
    ['an argument', (name: string) => `{ memberByEmail(${name}: "a") { email } }`],
    ['a variable', (name: string) => `query ($${name}: String!) { __typename }`],
    ['a fragment', (name: string) => `{ ...${name} } fragment ${name} on Query { __typename }`],
    ['an operation', (name: string) => `query ${name} { __typename }`],
    ['a directive', (name: string) => `{ __typename @${name} }`],
  ])('as the name of %s too', async (_, query) => {
    const { status, code } = await service.send({ query: query('a'.repeat(129)) });
    expect([status, code]).toEqual([400, 'OPERATION_TOO_COMPLEX']);
  });
});

test('introspection is stopped at 1 MiB, and below it answered', async () => {
  const wide = (count: number) =>
    `{ __schema { types { fields { ${repeat(count, (n) => `${'a'.repeat(120)}${n}: name description`)} } } } }`;
  const small = await service.send({ query: wide(20) });
  expect(small.status).toBe(200);
  const large = await probe.during(() => service.send({ query: wide(240) }));
  expect([large.status, large.code]).toEqual([400, 'OPERATION_TOO_COMPLEX']);
  expect(large.text.length).toBeLessThan(1_000);
});

test('a document that only spreads unknown or cyclic fragments costs 1', async () => {
  for (const query of ['{ ...F }', '{ ...F } fragment F on Query { ...F }']) {
    const [first, second] = [await service.send({ query }), await service.send({ query })];
    const remaining = ({ headers }: typeof first) => Number(headers.get('ratelimit-remaining'));
    expect(first.status).toBe(400);
    expect(remaining(first) - remaining(second)).toBe(1);
  }
});

describe('errors are few and short', () => {
  test('a hundred repeated directives get five errors', async () => {
    const query = `{ memberByEmail(email: "a") { ${repeat(100, (n) => `a${n}: email @nothing`)} } }`;
    const { status, body } = await service.send({ query });
    expect(status).toBe(400);
    expect(body.errors).toHaveLength(5);
  });

  test('a message that quotes the caller is cut at 300 characters', async () => {
    const { text, body } = await service.send({
      query: 'query ($email: String!) { memberByEmail(email: $email) { email } }',
      variables: { email: [`${'x'.repeat(60_000)}`] },
    });
    expect(body.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(text.length).toBeLessThan(2_000);
    for (const { message } of body.errors ?? []) expect(message.length).toBeLessThanOrEqual(300);
  });

  test('every failed root field keeps its first error', async () => {
    const query = `{ ${repeat(10, (n) => `a${n}: memberByEmail(email: "nobody${n}@example.com") { email }`)} }`;
    const { body } = await service.send({ query });
    expect(body.errors?.map(({ path }) => path?.[0])).toEqual(
      Array.from({ length: 10 }, (_, n) => `a${n}`),
    );
  });
});

test('every response is within its bound', async () => {
  const answers = await Promise.all(
    [1, 10, 200].map((count) =>
      service.send({
        query: `query ($email: String!) { memberByEmail(email: $email) { ${repeat(count, (n) => `${'a'.repeat(100)}${n}: email`)} } }`,
        variables: { email: 'both@example.com' },
      }),
    ),
  );
  for (const { status, text } of answers) {
    expect(status).toBe(200);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MEBIBYTE);
  }
});
