// A team's subgraph joins a running gateway, changes and leaves, while requests go on.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/folder.ts';
import { EXAMPLES, type Example, startExample } from '../support/servers/examples.ts';
import { type ApiResponse, type Client, createClient } from '../support/service/client.ts';
import { loyalty, loyaltyJson, type Ran } from '../support/service/loyalty.ts';
import { type Stack, startStack } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

const SDL = readFileSync(join(EXAMPLES, 'offers-apollo/schema.graphql'), 'utf8');
const MEMBER = 'memberByEmail(email: "a@example.com")';
const PLAIN = `{ ${MEMBER} { memberId tier points } }`;
const OFFERS = `{ ${MEMBER} { tier offers { title } } }`;
const OFFERS_WITH_PARTNER = `{ ${MEMBER} { offers { partnerId } } }`;
const OFFERS_WITH_END = `{ ${MEMBER} { offers { title endsAt } } }`;
const SECRET = 'the secret of offers alone';

type Load = { stop(): Promise<string[]> };

const folder = temporaryFolder();
const examples: Partial<Record<'apollo' | 'python', Example>> = {};
let stack: Stack;
let send: Client;
let memberId: string;
const loads: Load[] = [];

beforeAll(async () => {
  examples.apollo = await startExample('offers-apollo', { OFFERS_SECRET: SECRET });
  examples.python = await startExample('offers-python', { OFFERS_SECRET: SECRET });
  stack = await startStack('one process', { OFFERS_SECRET: SECRET, RATE_LIMIT_BUDGET: '100000' });
  await loyaltyJson(stack.env, 'partners', 'create', 'demo-hotels', '--name', 'Demo Hotels');
  const [{ key } = {}] = await loyaltyJson(stack.env, 'keys', 'create', 'demo-hotels');
  send = createClient(stack.gateway.url, String(key));
  const enrolled = await send({
    query: 'mutation { enrollMember(input: { email: "a@example.com" }) { member { memberId } } }',
  });
  memberId = /"memberId":"([^"]+)"/.exec(enrolled.text)?.[1] ?? '';
});
afterAll(async () => {
  for (const example of Object.values(examples)) await example.stop();
  await stack?.close();
  folder.remove();
});

// Left by a test that failed.
afterEach(async () => {
  for (const load of loads.splice(0)) await load.stop();
});

test('a subgraph joins, changes, breaks, moves and leaves, and no other request fails', async () => {
  const plain = startLoad(PLAIN);
  expect(await ask(OFFERS)).toMatchObject({ status: 400, code: 'GRAPHQL_VALIDATION_FAILED' });

  await succeeds(
    'publish',
    'offers',
    schemaWithout('partnerId'),
    ...at('apollo'),
    '--batching',
    '--init',
    '--approve',
  );
  await answers(OFFERS_WITH_END);
  const withOffers = startLoad(OFFERS);
  expect((await ask(OFFERS)).body.data).toEqual({
    memberByEmail: {
      tier: 'MEMBER',
      offers: [{ title: 'Check out at 4 p.m.' }, { title: 'Stay three nights, pay for two' }],
    },
  });

  expect(await ask(OFFERS_WITH_PARTNER)).toMatchObject({ status: 400 });
  await succeeds('publish', 'offers', schemaWithout());
  await answers(OFFERS_WITH_PARTNER);

  await used('Offer.endsAt');
  const broken = ['publish', 'offers', schemaWithout('endsAt')];
  expect(await supergraph(...broken)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Offer\.endsAt \(demo-hotels/),
  });
  expect((await ask(OFFERS_WITH_END)).status).toBe(200);
  await succeeds(...broken, '--force');
  expect((await ask(OFFERS_WITH_END)).status).toBe(400);
  await succeeds('rollback');
  await answers(OFFERS_WITH_END);

  await succeeds(
    'publish',
    'offers',
    schemaWithout(),
    ...at('python'),
    '--no-batching',
    '--approve',
  );
  await examples.apollo?.stop();
  await answers(OFFERS_WITH_END);

  expect(await withOffers.stop()).toEqual([]);
  expect(await supergraph('remove', 'offers')).toMatchObject({ code: 1 });
  await succeeds('remove', 'offers', '--force');
  expect((await ask(OFFERS)).status).toBe(400);
  expect(await plain.stop()).toEqual([]);
});

test('a member sees offers too, and callers see the code of the subgraph that was published', async () => {
  await succeeds('publish', 'offers', schemaWithout(), ...at('python'), '--approve');
  await answers(OFFERS);
  const [{ idToken } = {}] = await loyaltyJson(stack.env, 'tokens', 'issue', memberId);
  const query = `{ memberProfile(id: "${memberId}") { email offers { offerId partnerId } } }`;
  const { body } = await send({ query, token: String(idToken) });
  expect(body.data).toMatchObject({
    memberProfile: {
      offers: [
        { offerId: 'late-checkout', partnerId: 'demo-hotels' },
        { offerId: 'third-night', partnerId: 'demo-hotels' },
      ],
    },
  });

  const expired = '{ offer(offerId: "winter-spa") { title } }';
  expect(await ask(expired)).toMatchObject({ status: 500, code: 'INTERNAL_SERVER_ERROR' });
  await succeeds('publish', 'offers', schemaWithout(), '--codes', 'OFFER_EXPIRED');
  expect(await ask(expired)).toMatchObject({
    status: 200,
    code: 'OFFER_EXPIRED',
    body: { data: { offer: null }, errors: [{ message: 'the offer has ended' }] },
  });
});

function ask(query: string): Promise<ApiResponse> {
  return send({ query });
}

async function answers(query: string): Promise<void> {
  const { status, body } = await ask(query);
  expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
}

/** Sends a query over and over. `stop` resolves with the responses that have errors. */
function startLoad(query: string): Load {
  const failed: string[] = [];
  let isStopped = false;
  const client = async () => {
    while (!isStopped) {
      const { status, body, text } = await ask(query);
      if (status !== 200 || body.errors) failed.push(text);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const clients = Promise.all([client(), client(), client()]);
  const load = {
    async stop() {
      isStopped = true;
      await clients;
      return failed;
    },
  };
  loads.push(load);
  return load;
}

function supergraph(...args: string[]): Promise<Ran> {
  return loyalty(stack.env, 'supergraph', ...args);
}

/** Adds a version, and waits until the gateway serves it. */
async function succeeds(...args: string[]): Promise<void> {
  const printed = await loyaltyJson(stack.env, 'supergraph', ...args);
  const version = printed.find((row) => 'publishedAt' in row)?.version;
  await stack.gateway.wrote(new RegExp(`"version":${version},"msg":"a new graph serves"`));
}

function at(name: keyof typeof examples): string[] {
  return ['--url', examples[name]?.url ?? ''];
}

/** A file with the schema, without a field of Offer. */
function schemaWithout(field?: string): string {
  const path = join(folder.path, `without-${field}.graphql`);
  const lines = SDL.split('\n');
  const at = lines.findIndex((line) => line.startsWith(`  ${field}:`));
  const described = lines[at - 1]?.startsWith('  "') ? 2 : 1;
  if (at > 0) lines.splice(at - described + 1, described);
  writeFileSync(path, lines.join('\n'));
  return path;
}

/** Waits until the gateway has written down that the field is in use. */
async function used(field: string): Promise<void> {
  await until(async () => {
    const rows = await loyaltyJson(stack.env, 'usage', '--field', field);
    return rows.length > 0;
  });
}
