// The example subgraphs: they answer requests that the gateway signed, once, and no others.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeServices } from '@apollo/composition';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createHttpTransport } from '@partner-loyalty/runtime/transport/client.ts';
import { oneSecret } from '@partner-loyalty/runtime/transport/secrets.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import { buildClientSchema, getIntrospectionQuery, parse, printSchema } from 'graphql';
import { EXAMPLES, type Example, startExample } from '../support/servers/examples.ts';
import { COMPONENTS, type SubgraphMessage, signedHeaders } from '../support/service/signed.ts';

const SECRET = 'the secret of offers alone';
const OLD_SECRET = 'the secret before it';
const HOTELS = 'kind=partner, partner="demo-hotels"';
const MEMBER = 'kind=member, member="m1"';
const OFFERS = '{ memberId offers { offerId partnerId title } }';
const ENTITIES = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
  ... on PartnerMemberRead ${OFFERS} ... on MemberProfile ${OFFERS} } }`;
const MEMBER_READ = { __typename: 'PartnerMemberRead', memberId: 'm1' };
const PROFILE = {
  __typename: 'MemberProfile',
  memberId: 'm1',
  activePartnerIds: ['demo-hotels', 'demo-coffee'],
};

const NAMES = ['offers-apollo', 'offers-python'] as const;

type Operation = { query: string; variables?: unknown; extensions?: unknown };
type Answer = {
  data?: Record<string, unknown> | null;
  errors?: { message: string; path?: unknown; extensions?: { code?: string } }[];
};

const started: Example[] = [];
const urls: Record<string, string> = {};

beforeAll(async () => {
  for (const name of NAMES) {
    const env = { OFFERS_SECRET: SECRET, OFFERS_SECRET_OLD: OLD_SECRET };
    const example = await startExample(name, env);
    started.push(example);
    urls[name] = example.url;
  }
});
afterAll(async () => {
  for (const example of started) await example.stop();
});

test('the examples have the same schema and offers, and join the graph of the repository', () => {
  const read = (path: string) => readFileSync(join(EXAMPLES, path), 'utf8');
  for (const file of ['schema.graphql', 'offers.json'])
    expect(read(`offers-python/${file}`)).toBe(read(`offers-apollo/${file}`));
  const ours = ['members', 'standings'].map((name) => ({
    name,
    typeDefs: parse(read(`../subgraphs/${name}/schema.graphql`)),
  }));
  const offers = { name: 'offers', typeDefs: parse(read('offers-apollo/schema.graphql')) };
  const { errors } = composeServices([...ours, offers]);
  expect(errors).toBeUndefined();
});

describe.each(NAMES)('%s', (name) => {
  const ask = (operation: unknown, more: Partial<SubgraphMessage> = {}) =>
    post({ url: urls[name] ?? '', body: JSON.stringify(operation), ...more });
  const entities = async (caller: string, ...representations: object[]) =>
    answerOf(await ask({ query: ENTITIES, variables: { representations } }, { caller }));

  test("a partner gets its own current offers, a member those of the member's partners", async () => {
    const late = {
      offerId: 'late-checkout',
      partnerId: 'demo-hotels',
      title: 'Check out at 4 p.m.',
    };
    const third = {
      offerId: 'third-night',
      partnerId: 'demo-hotels',
      title: 'Stay three nights, pay for two',
    };
    const cup = {
      offerId: 'second-cup',
      partnerId: 'demo-coffee',
      title: 'The second cup is free',
    };
    const forPartner = await entities(HOTELS, MEMBER_READ);
    expect(forPartner).toEqual({
      data: { _entities: [{ memberId: 'm1', offers: [late, third] }] },
    });
    expect(await entities(MEMBER, PROFILE)).toEqual({
      data: { _entities: [{ memberId: 'm1', offers: [late, third, cup] }] },
    });
    expect(await entities(`${MEMBER}, partner="demo-coffee"`, PROFILE)).toEqual({
      data: { _entities: [{ memberId: 'm1', offers: [cup] }] },
    });
  });

  test.each([
    ['another member', 'kind=member, member="m2"', PROFILE],
    ['a partner that asks for a profile', HOTELS, PROFILE],
    ['a member that asks as a partner', `${MEMBER}, partner="demo-hotels"`, MEMBER_READ],
    ['the gateway itself', 'kind=service', MEMBER_READ],
  ])('no offers for %s', async (_, caller, representation) => {
    const { data, errors } = await entities(caller, representation);
    expect(data).toEqual({ _entities: [{ memberId: 'm1', offers: null }] });
    expect(errors).toHaveLength(1);
  });

  // The example in Python takes no batches.
  const ways = name === 'offers-apollo' ? [false, true] : [false];

  test.each(ways)(
    "the gateway's transport gets its answers, with batching: %s",
    async (batching) => {
      const transport = createHttpTransport({
        name: 'offers',
        url: urls[name] ?? '',
        secrets: oneSecret(SECRET),
        batching,
        codes: ['OFFER_EXPIRED'],
        log: createLog('silent'),
        metrics: { subgraphCall: () => {}, circuit: () => {} },
      });
      const execute = (query: string, caller: Caller, representations?: object[]) =>
        transport.execute({ query, variables: { representations }, caller, requestId: 'r' });
      const hotels = { kind: 'partner', partnerId: 'demo-hotels' } as const;
      await transport.ready();
      const replies = await Promise.all([
        execute(ENTITIES, hotels, [MEMBER_READ]),
        execute(ENTITIES, { kind: 'member', memberId: 'm1' }, [PROFILE]),
        execute('{ offer(offerId: "winter-spa") { title } }', hotels),
        execute('{ nothing }', hotels),
      ]);
      await transport.close();
      const offers = (count: number) => ({
        data: { _entities: [{ memberId: 'm1', offers: Array(count).fill(expect.anything()) }] },
      });
      expect(replies.slice(0, 2)).toEqual([offers(2), offers(3)]);
      expect(replies.map(({ errors }) => errors?.map(({ extensions }) => extensions.code))).toEqual(
        [undefined, undefined, ['OFFER_EXPIRED'], ['INTERNAL_SERVER_ERROR']],
      );
    },
  );

  test('the code OFFER_EXPIRED for an offer that has ended', async () => {
    const query =
      '{ now: offer(offerId: "third-night") { title endsAt } offer(offerId: "winter-spa") { title } other: offer(offerId: "quiet-seat") { title } }';
    const { data, errors } = await answerOf(await ask({ query }));
    expect(data).toEqual({
      now: { title: 'Stay three nights, pay for two', endsAt: expect.stringMatching(/^\d{4}-/) },
      offer: null,
      other: null,
    });
    expect(
      errors?.map(({ message, path, extensions }) => [message, path, extensions?.code]),
    ).toEqual([['the offer has ended', ['offer'], 'OFFER_EXPIRED']]);
  });

  test('it runs the schema that it publishes', async () => {
    const { data } = await answerOf(await ask({ query: '{ _service { sdl } }' }));
    const introspected = await answerOf(await ask({ query: getIntrospectionQuery() }));
    // Cast: the result of an introspection query describes a schema.
    const running = printSchema(buildClientSchema(introspected.data as never));
    for (const field of ['offer(offerId: ID!): Offer', 'offers: [Offer!]', 'endsAt: String!'])
      for (const schema of [JSON.stringify(data), running]) expect(schema).toContain(field);
  });

  test('a scope may hold quotes, and characters beyond ASCII as a display string', async () => {
    for (const [caller, member] of [
      [String.raw`kind=member, member="a\"b\\c"`, String.raw`a"b\c`],
      ['kind=member, member=%"b%c3%a4r %22%25"', 'bär "%'],
    ] as const) {
      const { data } = await entities(caller, { ...PROFILE, memberId: member });
      expect(data).toEqual({ _entities: [{ memberId: member, offers: expect.any(Array) }] });
    }
  });

  test('a request signed with the old secret is accepted', async () => {
    expect((await ask({ query: '{ __typename }' }, { secret: OLD_SECRET })).status).toBe(200);
  });

  const PING = JSON.stringify({ query: '{ __typename }' });

  test.each<[string, (sent: Signed) => Partial<Signed>]>([
    ['body', () => ({ body: PING.replace('__typename', 'offer') })],
    ['path', ({ url }) => ({ url: `${url}/` })],
    ['query string', ({ url }) => ({ url: `${url}?a` })],
    ['scope', ({ headers }) => ({ headers: { ...headers, 'partner-loyalty-scope': HOTELS } })],
    ['subgraph', ({ headers }) => ({ headers: { ...headers, 'partner-loyalty-subgraph': 'a' } })],
    ['request ID', ({ headers }) => ({ headers: { ...headers, 'x-request-id': 'another' } })],
    ['digest', ({ headers }) => ({ headers: { ...headers, 'content-digest': '' } })],
    ['signature', ({ headers }) => ({ headers: { ...headers, Signature: 'sig1=:AAAA:' } })],
  ])('401 for a request whose %s changed after it was signed', async (_, change) => {
    const signed = await signedRequest({ url: urls[name] ?? '', body: PING, caller: MEMBER });
    const sent = { ...signed, ...change(signed) };
    expect((await fetch(sent.url, { method: 'POST', ...sent })).status).toBe(401);
  });

  test.each<[string, Partial<SubgraphMessage>]>([
    ['with another secret', { secret: 'another' }],
    ['with no secret at all', { secret: '' }],
    ['for another subgraph', { subgraph: 'members' }],
    ['for another purpose', { tag: 'another' }],
    ['31 seconds ago', { created: new Date(Date.now() - 31_000) }],
    ['in the future', { created: new Date(Date.now() + 60_000) }],
    ['without its scope', { components: COMPONENTS.filter((each) => !each.includes('scope')) }],
    ['without its body', { components: COMPONENTS.filter((each) => !each.includes('digest')) }],
  ])('401 for a request signed %s', async (_, signed) => {
    const message = { url: urls[name] ?? '', body: PING, ...signed };
    expect((await post(message)).status).toBe(401);
  });

  test('a refusal that closes its connection says so', async () => {
    const refused = await post({ url: urls[name] ?? '', body: PING, secret: 'another' });
    expect(refused.headers.get('connection')).toBe('close');
  });

  test('401 for a request that comes again', async () => {
    const { url, ...sent } = await signedRequest({ url: urls[name] ?? '', body: PING });
    const statuses: number[] = [];
    for (let time = 0; time < 2; time += 1)
      statuses.push((await fetch(url, { method: 'POST', ...sent })).status);
    expect(statuses).toEqual([200, 401]);
  });
});

test('in a batch, each operation of offers-apollo has its own scope', async () => {
  const operation = (partner: string): Operation => ({
    query: ENTITIES,
    variables: { representations: [MEMBER_READ] },
    extensions: { scope: { kind: 'partner', partner } },
  });
  const response = await post({
    url: urls['offers-apollo'] ?? '',
    body: JSON.stringify([operation('demo-trains'), operation('demo-coffee')]),
    caller: 'kind=batch',
  });
  expect(await response.json()).toMatchObject([
    { data: { _entities: [{ offers: [{ offerId: 'quiet-seat' }] }] } },
    { data: { _entities: [{ offers: [{ offerId: 'second-cup' }] }] } },
  ]);
});

type Sent = Partial<SubgraphMessage> & Pick<SubgraphMessage, 'url' | 'body'>;
type Signed = { url: string; body: string; headers: Record<string, string> };

async function signedRequest(sent: Sent): Promise<Signed> {
  const message = { secret: SECRET, caller: HOTELS, subgraph: 'offers', ...sent };
  return { url: sent.url, body: sent.body, headers: await signedHeaders(message) };
}

async function post(sent: Sent): Promise<Response> {
  const { url, body, headers } = await signedRequest(sent);
  return fetch(url, { method: 'POST', headers, body });
}

async function answerOf(response: Response): Promise<Answer> {
  expect(response.status).toBe(200);
  // Cast: what a GraphQL server answers.
  return (await response.json()) as Answer;
}
