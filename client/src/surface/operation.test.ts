// The types that callers see, held by the compiler: a line that must not compile says so.
import { createPartnerClient, isCallError, type Partner } from '../index.ts';

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
