// The service reads a data directory of the present format, which make.ts describes, as it is.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { temporaryFolder } from '../support/folder.ts';
import { type Client, createClient } from '../support/service/client.ts';
import { type Env, loyalty, loyaltyJson } from '../support/service/loyalty.ts';
import { type Service, startService } from '../support/service/npmstart.ts';
import { until } from '../support/until.ts';
import { OFFERS_SECRET } from './data.ts';

const keys: { inn: string; spa: string } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'keys.json'), 'utf8'),
);
const folder = temporaryFolder();
const env: Env = { DATA_DIR: join(folder.path, 'data'), OFFERS_SECRET };
let service: Service | undefined;
let send: Client;

beforeAll(async () => {
  mkdirSync(env.DATA_DIR ?? '', { mode: 0o700 });
  const archive = gunzipSync(readFileSync(join(import.meta.dirname, 'data.json.gz')));
  const files: Record<string, string> = JSON.parse(archive.toString());
  for (const [path, content] of Object.entries(files)) {
    const target = join(env.DATA_DIR ?? '', path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    writeFileSync(target, content, { encoding: 'base64', mode: 0o600 });
  }
});
afterAll(async () => {
  await service?.kill();
  folder.remove();
});

const read = async (query: string, credential: { key?: string; token?: string }) => {
  const { body } = await send({ query, ...credential });
  expect(body.errors).toBeUndefined();
  return body.data;
};

test('every store has records, and none has a fault', async () => {
  const rows = await loyaltyJson(env, 'verify');
  const stores = ['graph', 'keys', 'members', 'standings', 'usage'];
  expect(rows.map(({ store }) => store).toSorted()).toEqual(stores);
  for (const row of rows) {
    expect(row).toMatchObject({ faults: 0 });
    expect(row.records).toBeGreaterThan(0);
  }
});

test('the service starts on it', async () => {
  service = await startService(env, false);
  send = createClient(new URL(service.endpoint).origin);
});

test('partners read members and standings with their keys', async () => {
  const FIELDS = `memberId email firstName lastName externalId enrolledAt
    activities(first: 10) { edges { node { activityId points stays membershipYear } } }`;
  const data = await read(
    `{ email: memberByEmail(email: "ada.old@example.com") { ${FIELDS} }
       externalId: memberByExternalId(externalId: "A-1") { ${FIELDS} }
       enrolled: memberByExternalId(externalId: "G-1") { email } }`,
    { key: keys.inn },
  );
  const ada = {
    memberId: 'm-ada',
    email: 'Ada@Example.com',
    firstName: 'Ada',
    lastName: 'Byron',
    externalId: 'A-1',
    enrolledAt: expect.any(String),
    activities: {
      edges: [
        ['a-2', 500, 2, '2026-04-01'],
        ['a-1', 700, 1, '2026-04-01'],
        ['a-3', -100, 0, '2025-04-01'],
      ].map(([activityId, points, stays, membershipYear]) => ({
        node: { activityId, points, stays, membershipYear },
      })),
    },
  };
  expect(data).toEqual({
    email: ada,
    externalId: ada,
    enrolled: { email: 'Grace@Example.com' },
  });
  for (const [email, key] of [
    ['ada@example.com', keys.spa],
    ['erased@example.com', keys.inn],
  ]) {
    const query = `{ memberByEmail(email: "${email}") { memberId } }`;
    expect(await send({ query, key })).toMatchObject({ code: 'MEMBER_NOT_FOUND' });
  }
});

test('a tier and points follow from sums and program', async () => {
  const STANDING = '{ memberByEmail(email: "bob@example.com") { tier points } }';
  const record = `mutation { recordActivities(activities: [{ activityId: "b-1", memberId: "m-bob",
    points: 1000, occurredAt: "${new Date().toISOString()}" }]) { outcome } }`;
  expect(await read(STANDING, { key: keys.inn })).toEqual({
    memberByEmail: { tier: 'Blue', points: 0 },
  });
  expect(await read(record, { key: keys.inn })).toEqual({
    recordActivities: [{ outcome: 'RECORDED' }],
  });
  expect(await read(STANDING, { key: keys.inn })).toEqual({
    memberByEmail: { tier: 'Gold', points: 1_000 },
  });
});

test('a member reads a profile, with a token that the stored key signs', async () => {
  const [issued] = await loyaltyJson(env, 'tokens', 'issue', 'm-ada');
  const token = String(issued?.idToken);
  expect(
    await read('{ memberProfile(id: "m-ada") { email partnerStandings { partnerId } } }', {
      token,
    }),
  ).toEqual({
    memberProfile: { email: 'Ada@Example.com', partnerStandings: [{ partnerId: 'inn' }] },
  });
});

test('mail that waited is sent', async () => {
  const outbox = join(env.DATA_DIR ?? '', 'outbox');
  const mail = await until(() => {
    const names = existsSync(outbox) ? readdirSync(outbox) : [];
    return names.filter((name) => name.endsWith('.eml')).length === 2 ? names : undefined;
  });
  const text = mail.map((name) => readFileSync(join(outbox, name), 'utf8')).join('');
  expect(text).toMatch(/^Subject: Sign in to The Inn/m);
  expect(text).toMatch(/^Subject: The Inn invites you/m);
});

test('the mark of an erased member, locks and the published graph are kept', async () => {
  const { stderr } = await loyalty(env, 'members', 'unlock', 'ada@example.com');
  expect(stderr).toContain('is not locked');
  expect(await loyaltyJson(env, 'members', 'unlock', 'locked@example.com')).toMatchObject([
    { memberId: 'm-locked' },
  ]);
  expect(await loyaltyJson(env, 'supergraph', 'list')).toMatchObject([
    { version: 1, change: 'publish offers' },
  ]);
  expect(await loyalty(env, 'members', 'export', 'm-erased')).toMatchObject({ code: 1 });
});

test('once the schemas are published, there are lists, and events of all changes', async () => {
  // In the order of docs/operators/running.md, Upgrading.
  for (const name of ['standings', 'members']) {
    const schema = `subgraphs/${name}/schema.graphql`;
    await loyaltyJson(env, 'supergraph', 'publish', name, schema, '--approve');
  }
  const LISTS = `{ members { edges { memberId node { email } } }
    events { edges { node { type memberId activityId tierAfter } } } }`;
  // Gateways serve a new graph within seconds.
  const data = await until(async () => {
    const { body } = await send({ query: LISTS, key: keys.inn });
    return JSON.stringify(body).includes('"b-1"') && body.data;
  });
  expect(data).toEqual({
    members: {
      edges: expect.arrayContaining([
        { memberId: 'm-ada', node: { email: 'Ada@Example.com' } },
        { memberId: 'm-bob', node: { email: 'bob@example.com' } },
      ]),
    },
    events: {
      edges: expect.arrayContaining(
        [
          { type: 'POINTS_CHANGED', memberId: 'm-ada', activityId: 'a-1', tierAfter: null },
          { type: 'POINTS_CHANGED', memberId: 'm-bob', activityId: 'b-1', tierAfter: null },
          { type: 'TIER_CHANGED', memberId: 'm-bob', activityId: null, tierAfter: 'Gold' },
        ].map((node) => ({ node })),
      ),
    },
  });
});
