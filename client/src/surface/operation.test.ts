// What a call asks for: its types, its document and its groups of keys.
import { DEFAULTS, SCHEMA } from '../generated/partner.generated.ts';
import { createPartnerClient, isCallError, type Partner } from '../index.ts';
import { batchesOf } from '../partner.ts';
import { buildDocument } from './document.ts';

// The types that callers see, held by the compiler: a line that must not compile says so.

/** Only compiled. */
export async function usage(): Promise<unknown[]> {
  const client = createPartnerClient({ url: 'https://loyalty.example/graphql', key: 'pk_test_' });
  const email = 'a@example.com';

  const member = await client.memberByEmail({ email });
  const nextTier: string | null | undefined = member?.standing?.nextTier;
  // @ts-expect-error: not found is null.
  member.memberId;
  // @ts-expect-error: what takes arguments has to be selected.
  member?.activities;
  // @ts-expect-error: an argument is missing.
  await client.memberByEmail({});

  const select = {
    activities: { $arguments: { first: 3 }, edges: { node: { points: true } } },
  } as const;
  const selected = await client.memberByEmail({ email }, { select, maxRetries: 1 });
  const points: number | undefined = selected?.activities.edges[0]?.node.points;
  // @ts-expect-error: not selected.
  selected?.email;
  // @ts-expect-error: no field of a member.
  await client.memberByEmail({ email }, { select: { memberId: true, mail: true } });
  // @ts-expect-error: no field of a standing.
  await client.memberByEmail({ email }, { select: { standing: { tier: true, level: true } } });

  const found = await client.memberLookups({ keys: [{ email }, { memberId: 'm' }] });
  const tiers: (string | undefined)[] = found.map((each) => each.member?.tier);
  const several = await client.lookUpMembers([{ email }], { select: { standing: { tier: true } } });
  const chosen: (string | undefined)[] = several.map((each) => each.member?.standing?.tier);
  // @ts-expect-error: not selected.
  several[0]?.member?.points;
  // @ts-expect-error: no field of a member.
  await client.lookUpMembers([{ email }], { select: { mail: true } });
  for await (const { cursor, node } of client.members({ after: 'c', select: { email: true } })) {
    // @ts-expect-error: not selected.
    chosen.push(cursor, node?.email, node?.tier);
  }
  for await (const activity of client.activities('m', { select: { stays: true } })) {
    const stays: number = activity.stays;
    // @ts-expect-error: not selected.
    chosen.push(`${stays}`, activity.activityId);
  }
  // @ts-expect-error: no field of an activity.
  client.activities('m', { select: { tier: true } });
  const key: Partner.MemberKey = { externalId: 'e' };
  const { created, member: enrolled } = await client.enrollMember({ input: { email } });
  const flags: [boolean, string | undefined] = [created, enrolled.standing?.partnerName];
  const { data } = await client.request<{ a: { tier: string } }>('{ a }');
  return [nextTier, points, tiers, chosen, key, flags, data.a.tier];
}

/** Only compiled. */
export function branch(error: unknown): unknown {
  if (!isCallError(error)) return undefined;
  switch (error.code) {
    case 'EXTERNAL_ID_CONFLICT': {
      const reason: 'TAKEN' | 'MEMBER_HAS_ANOTHER' | undefined = error.reason;
      return reason;
    }
    case 'OTHER': {
      const code: string = error.otherCode;
      return code;
    }
    // @ts-expect-error: no code.
    case 'NO_SUCH_CODE':
      return undefined;
    default: {
      const none: undefined = error.otherCode;
      return none;
    }
  }
}

test('what is no error of a call is none of the union', () => {
  for (const error of [new Error('a'), { code: 'OTHER' }, undefined])
    expect(branch(error)).toBeUndefined();
});

// Documents that are built from a selection.

const build = (selection: object, variables: Record<string, unknown> = { email: 'a' }) =>
  buildDocument(SCHEMA, 'Query', 'memberByEmail', variables, { ...selection });

test('all values are variables, those of arguments within the selection too', () => {
  const activities = { $arguments: { first: 2, after: undefined }, pageInfo: { endCursor: true } };
  expect(build({ memberId: true, activities, email: undefined })).toEqual({
    query:
      'query memberByEmail($email: String!, $first_1: Int) { memberByEmail(email: $email) ' +
      '{ memberId activities(first: $first_1) { pageInfo { endCursor } } } }',
    variables: { email: 'a', first_1: 2 },
  });
});

test('an argument that is left out is not sent, and null is', () => {
  const change = (variables: Record<string, unknown>) =>
    buildDocument(SCHEMA, 'Mutation', 'changeExternalId', variables, { memberId: true });
  expect(change({ memberId: 'm' }).variables).toEqual({ memberId: 'm' });
  expect(change({ memberId: 'm', externalId: null, more: 1 }).variables).toEqual({
    memberId: 'm',
    externalId: null,
  });
  expect(change({ memberId: 'm' }).query).toBe(
    'mutation changeExternalId($memberId: ID!, $externalId: String) ' +
      '{ changeExternalId(memberId: $memberId, externalId: $externalId) { memberId } }',
  );
});

test('what is selected by default takes no arguments', () => {
  const { query } = build(DEFAULTS.PartnerMemberRead);
  expect(query).toContain('standing { partnerId partnerName ');
  expect(query).not.toContain('activities');
});

test('a selection without an end is refused', () => {
  const endless: Record<string, unknown> = {};
  endless.standing = endless;
  expect(() => build(endless)).toThrow(/^select: /);
  expect(() => build(Object.create({ memberId: true }))).toThrow(/selects nothing/);
});

test('a group has at most 100 keys, and room for a document within 64 KiB', () => {
  const short = Array.from({ length: 250 }, (_, index) => ({ memberId: `m-${index}` }));
  expect(batchesOf(short).map(({ length }) => length)).toEqual([100, 100, 50]);
  const long = Array.from({ length: 100 }, () => ({ externalId: '界'.repeat(255) }));
  const groups = batchesOf(long);
  expect(groups.flat()).toEqual(long);
  for (const group of groups)
    expect(Buffer.byteLength(JSON.stringify(group))).toBeLessThanOrEqual(60_001);
  expect(batchesOf([{ externalId: 'a'.repeat(100_000) }])).toHaveLength(1);
  expect(batchesOf([])).toEqual([]);
});
