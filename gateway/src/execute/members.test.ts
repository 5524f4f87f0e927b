// Which members are seen in responses, whatever the caller selects.

import { readFileSync } from 'node:fs';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { SubgraphRequest, Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { ResponseSize } from '../document/responsesize.ts';
import { SUPERGRAPH_FILE } from '../graph/committed.ts';
import type { SurfaceName } from '../schema/surfaces.ts';
import { openExecutor } from './executor.ts';
import type { MemberAccess } from './members.ts';

const supergraph = readFileSync(SUPERGRAPH_FILE, 'utf8');
const ADA = { __typename: 'PartnerMemberRead', memberId: 'ada', email: 'ada@example.com' };

function answering(answer: (request: SubgraphRequest) => object): Transport {
  return {
    execute: (request) => ({ data: answer(request) as Record<string, unknown> }),
    ready: async () => {},
    close: async () => {},
  };
}

/** Executes a query for which members answers `data`, or standings if it records. */
async function seen(
  query: string,
  data: object,
  {
    surface = 'partner',
    size = new ResponseSize(),
    recording = false,
  }: { surface?: SurfaceName; size?: ResponseSize; recording?: boolean } = {},
): Promise<{ accesses: MemberAccess[]; asked: string[]; result: unknown }> {
  const asked: string[] = [];
  const members = answering((request) => {
    asked.push(request.query);
    return data;
  });
  const standings = answering(({ query: wanted, entityTypes = [] }) => {
    if (!recording)
      return { _entities: entityTypes.map(() => ({ tier: 'GOLD', points: 7, as__0: [] })) };
    asked.push(wanted);
    return data;
  });
  const transports = { gateway: members, members, standings };
  const executor = await openExecutor(surface, supergraph, transports, createCaches(), true);
  const accesses: MemberAccess[] = [];
  const caller = { kind: 'partner', partnerId: 'inn' } as const;
  const call = { variables: {}, coerced: {}, caller, requestId: 'r' };
  const execution = { key: query, ...call, size, accesses };
  const result = await (async () => executor.execute(execution))().catch((error) => error);
  executor.close();
  return { accesses, asked, result };
}

test.each([
  ['{ memberByEmail(email: "a") { email } }', ['email']],
  ['{ memberByEmail(email: "a") { memberId: email } }', ['email']],
  ['{ memberByEmail(email: "a") { memberId } }', ['memberId']],
  ['{ memberByEmail(email: "a") { __typename } }', ['__typename']],
  [
    '{ memberByEmail(email: "a") { ...F tier } } fragment F on PartnerMemberRead { e: email }',
    ['email', 'tier'],
  ],
])('%s shows the member', async (query, fields) => {
  const { accesses, result } = await seen(query, { memberByEmail: ADA });
  expect(accesses).toEqual([{ operation: 'memberByEmail', memberId: 'ada', fields }]);
  expect(JSON.stringify(result)).not.toMatch(/"memberId":"ada".*"memberId":"ada"/);
});

test('the response has only what the caller selects', async () => {
  const { result } = await seen('{ memberByEmail(email: "a") { email } }', { memberByEmail: ADA });
  expect(result).toMatchObject({ data: { memberByEmail: { email: 'ada@example.com' } } });
  expect(JSON.stringify(result)).not.toContain('memberId');
});

test('a member who is not found is not seen', async () => {
  const query = '{ a: memberByEmail(email: "a") { email } }';
  expect((await seen(query, { as__0: null })).accesses).toEqual([]);
});

test('a member who is found but cannot be shown is seen without fields', async () => {
  const query = '{ memberByEmail(email: "a") { memberId email } }';
  const { accesses } = await seen(query, { memberByEmail: { ...ADA, email: null } });
  expect(accesses).toEqual([{ operation: 'memberByEmail', memberId: 'ada', fields: [] }]);
});

test('aliases are seen one by one', async () => {
  const query =
    '{ one: memberByEmail(email: "a") { email } two: memberByExternalId(externalId: "b") { email } }';
  const data = { as__0: ADA, as__1: { ...ADA, memberId: 'bob' } };
  expect((await seen(query, data)).accesses).toEqual([
    { operation: 'memberByEmail', memberId: 'ada', fields: ['email'] },
    { operation: 'memberByExternalId', memberId: 'bob', fields: ['email'] },
  ]);
});

test('a mutation has changed its member, even if the caller selects nothing of it', async () => {
  const query = 'mutation { enrollMember(input: { email: "a" }) { created } }';
  const { accesses, asked } = await seen(query, { enrollMember: { created: true, member: ADA } });
  expect(asked[0]).toContain('member{memberId}');
  expect(accesses).toEqual([{ operation: 'enrollMember', memberId: 'ada', fields: [] }]);
});

test.each([
  ['endEnrollment(memberId: "ada") { __typename }', { endEnrollment: { memberId: 'ada' } }],
  [
    'exchangeMagicLink(token: "t") { idToken }',
    { exchangeMagicLink: { memberId: 'ada', idToken: 'x' } },
  ],
])('%s names its member', async (field, data) => {
  const { accesses } = await seen(`mutation { ${field} }`, data);
  expect(accesses).toEqual([expect.objectContaining({ memberId: 'ada' })]);
});

test('a mutation names the members whose IDs only the log has, and callers cannot select them', async () => {
  const activity =
    '{ activityId: "a", memberId: "ada", points: 1, occurredAt: "2026-01-01T00:00:00Z" }';
  const query = `mutation { recordActivities(activities: [${activity}, ${activity}]) { outcome } }`;
  const recorded = [
    { outcome: 'RECORDED', memberId: 'ada' },
    { outcome: 'NOT_ENROLLED', memberId: null },
  ];
  const { accesses, asked, result } = await seen(
    query,
    { recordActivities: recorded },
    { recording: true },
  );
  expect(asked).toEqual([expect.stringMatching(/\{outcome memberId\}/)]);
  expect(accesses).toEqual([
    { operation: 'recordActivities', memberId: 'ada', fields: ['outcome'] },
  ]);
  expect(result).toMatchObject({
    data: { recordActivities: [{ outcome: 'RECORDED' }, { outcome: 'NOT_ENROLLED' }] },
  });
  expect(JSON.stringify(result)).not.toContain('memberId');
});

test('a mutation whose response is too large has changed its members, without showing them', async () => {
  const query = 'mutation { enrollMember(input: { email: "a" }) { created member { email } } }';
  const data = { enrollMember: { created: true, member: ADA } };
  const { accesses, result } = await seen(query, data, { size: new ResponseSize(10) });
  expect(result).toBeInstanceOf(Error);
  expect(accesses.map(({ memberId, fields }) => ({ memberId, fields }))).toContainEqual({
    memberId: 'ada',
    fields: [],
  });
});

test('nested fields have their paths in the schema', async () => {
  const query =
    '{ memberProfile(id: "ada") { firstName all: partnerStandings { t: tier points } } }';
  const profile = {
    __typename: 'MemberProfile',
    memberId: 'ada',
    firstName: 'Ada',
    activePartnerIds: [],
  };
  const { accesses } = await seen(query, { memberProfile: profile }, { surface: 'member' });
  expect(accesses).toEqual([
    {
      operation: 'memberProfile',
      memberId: 'ada',
      fields: ['firstName', 'partnerStandings.tier', 'partnerStandings.points'],
    },
  ]);
});
