// The endpoint for agents.

import { issueKey } from '@partner-loyalty/gateway/identity/apikey.ts';
import { type KeyScope, scopeBits } from '@partner-loyalty/gateway/schema/scopes.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { buildSchema, printSchema } from 'graphql';
import { answering, openPlace } from '../../../gateway/test/gateway.ts';
import { UNSHARED } from '../../../test/support/requests/unshared.ts';
import { createDescribe } from './describe.ts';
import * as mcp from './extension.ts';

// The schema as a key may use it: its root fields, and what they lead to.

const schema = buildSchema(`
  directive @shown(as: Style) on FIELD
  enum Style { PLAIN }
  scalar Day
  interface Offer { id: ID! }
  type Voucher implements Offer { id: ID! day: Day }
  union Found = Person
  type Person { name: String }
  input NewPerson { name: String since: Since }
  input Since { year: Int }
  type Created { person: Person query: Query }
  type Link { url: String }
  type toString { a: Int }
  type Query { offers: [Offer!] find(name: String): Found text: toString }
  type Mutation { create(input: NewPerson!): Created link: Link }
`);
const bits = (...scopes: KeyScope[]) => scopeBits(scopes);
const rootScopes = {
  query: new Map([
    ['offers', bits('read')],
    ['find', bits('read')],
  ]),
  mutation: new Map([
    ['create', bits('enroll')],
    ['link', bits('sign-in')],
  ]),
};
const graph = { surfaces: { partner: { schema, sdl: printSchema(schema), rootScopes } } };
// Cast: nothing else of a graph is read.
const describeFor = createDescribe({ current: () => graph } as never);

/** The names that a schema defines. */
const defined = (...scopes: KeyScope[]) =>
  [...describeFor(bits(...scopes)).matchAll(/^(?:directive @|\w+ )(\w+)/gm)]
    .map(([, name]) => name)
    .sort();

const READ = ['Day', 'Found', 'Offer', 'Person', 'Query', 'Style', 'Voucher', 'shown', 'toString'];

test('a key that reads has the queries, what implements their interfaces, and no mutation', () => {
  expect(defined('read')).toEqual(READ);
});

test('a key with another scope has its mutations and their inputs, not the others', () => {
  const sdl = describeFor(bits('read', 'enroll'));
  expect(defined('read', 'enroll')).toEqual(
    [...READ, 'Created', 'Mutation', 'NewPerson', 'Since'].sort(),
  );
  expect(sdl).not.toContain('link');
  expect(buildSchema(sdl).getMutationType()?.getFields()).toHaveProperty('create');
});

// A request to /mcp whose key ends while it arrives.

test('a key that is revoked while a slow body arrives does nothing any more', async () => {
  const place = await openPlace();
  const createdAt = new Date('2026-03-04T05:06:07Z');
  await place.keyStore.createPartner({ partnerId: 'inn', name: 'Inn', createdAt });
  const gateway = await place.open({
    subgraph: answering({}, () => {}),
    log: createLog('silent'),
    extensions: [mcp],
  });
  const { key, record } = issueKey('sandbox', 'inn', createdAt, { endpoint: 'mcp' });
  await place.keyStore.createKey(record);
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const send = (body: () => Promise<Buffer>) =>
    gateway.handle({
      ...{ method: 'POST', path: '/mcp', search: '', requestId: 'r', address: '192.0.2.1' },
      ...UNSHARED,
      signal: new AbortController().signal,
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body,
    });
  const bytes = Buffer.from(JSON.stringify(message));
  expect((await send(async () => bytes)).status).toBe(200);
  const now = performance.now.bind(performance);
  const revoked = send(async () => {
    await place.keyStore.revokeKey(record.keyId, new Date());
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 10_000);
    return bytes;
  });
  expect((await revoked.finally(() => jest.restoreAllMocks())).status).toBe(401);
  await place.close();
});
