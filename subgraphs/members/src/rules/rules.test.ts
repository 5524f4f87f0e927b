// The rules of members.

import { eventsOf } from './events.ts';
import { hashToken, makeToken, TOKEN_USES, type TokenUse } from './mailedtoken.ts';
import type { Enrollment } from './member.ts';
import { type MemberRecord, newRecord, updated } from './record.ts';

// Which events a change of a member's record has.

const ADDRESS = { typed: 'Ada@Example.com', canonical: 'ada@example.com' };
const BLANK = { ...newRecord('ada', ADDRESS), firstName: 'Ada' };

const active = (partnerId: string, externalId?: string): Enrollment => ({
  partnerId,
  status: 'ACTIVE',
  externalId,
  enrolledAt: 1,
  updatedAt: 0,
});
const ended = (partnerId: string): Enrollment => ({ partnerId, status: 'ENDED', updatedAt: 0 });
const enrolled = (...enrollments: Enrollment[]) => updated(undefined, { ...BLANK, enrollments });
const withEnrollments = (record: MemberRecord, ...enrollments: Enrollment[]): MemberRecord => ({
  ...record,
  enrollments,
});

/** The types and partners of the events, with external IDs. */
function told(before: MemberRecord | undefined, wanted: MemberRecord | undefined): string[] {
  const next = wanted && updated(before, wanted);
  return eventsOf(before, next).map(({ type, partnerId, externalId }) =>
    [type, partnerId, externalId].filter((part) => part !== undefined).join(' '),
  );
}

test('enrolling with an external ID is one event', () => {
  expect(told(undefined, withEnrollments(BLANK, active('inn', 'A-1'), active('spa')))).toEqual([
    'MEMBER_ENROLLED inn A-1',
    'MEMBER_ENROLLED spa',
  ]);
});

test('enrolling again after it ended is an event of the one partner alone', () => {
  const before = enrolled(ended('inn'), active('spa'));
  const spa = before.enrollments[1] ?? active('spa');
  expect(told(before, withEnrollments(before, active('inn', 'A-1'), spa))).toEqual([
    'MEMBER_ENROLLED inn A-1',
  ]);
});

test('ending an enrollment says which external ID it had', () => {
  expect(told(enrolled(active('inn', 'A-1')), { ...BLANK, enrollments: [ended('inn')] })).toEqual([
    'ENROLLMENT_ENDED inn A-1',
  ]);
});

test.each([
  ['gained', undefined, 'A-2', ' A-2'],
  ['changed', 'A-1', 'A-2', ' A-2'],
  ['taken away', 'A-1', undefined, ''],
])('an external ID that is %s is EXTERNAL_ID_CHANGED and nothing else', (_, from, to, shown) => {
  const before = enrolled(active('inn', from));
  const { updatedAt = 0 } = before.enrollments[0] ?? {};
  const after = { ...active('inn', to), updatedAt };
  expect(told(before, withEnrollments(before, after))).toEqual([`EXTERNAL_ID_CHANGED inn${shown}`]);
});

test('a change of identity is an event of each active partner, and of no ended one', () => {
  const before = enrolled(active('inn', 'A-1'), ended('spa'), active('pub'));
  expect(told(before, { ...before, firstName: 'Ava' })).toEqual([
    'MEMBER_UPDATED inn A-1',
    'MEMBER_UPDATED pub',
  ]);
});

test('an external ID and a name that change in one step are two events, in this order', () => {
  const before = enrolled(active('inn', 'A-1'));
  const { updatedAt = 0 } = before.enrollments[0] ?? {};
  const after = { ...before, lastName: 'L', enrollments: [{ ...active('inn', 'B'), updatedAt }] };
  expect(told(before, after)).toEqual(['EXTERNAL_ID_CHANGED inn B', 'MEMBER_UPDATED inn B']);
});

test('what no partner can see is no event', () => {
  const before = enrolled(active('inn', 'A-1'), ended('spa'));
  expect(told(before, { ...before, released: ['x@example.com'], locked: ['a@b.example'] })).toEqual(
    [],
  );
});

test('erasing is an event of every partner that ever enrolled the member, with the ID alone', () => {
  const before = enrolled(active('inn', 'A-1'), ended('spa'));
  expect(eventsOf(before, undefined)).toEqual(
    ['inn', 'spa'].map((partnerId) => ({
      id: expect.any(String),
      type: 'MEMBER_ERASED',
      occurredAt: expect.any(Number),
      partnerId,
      memberId: 'ada',
    })),
  );
});

test('an event names nobody', () => {
  const before = enrolled(active('inn', 'A-1'));
  const events = [
    ...eventsOf(undefined, before),
    ...eventsOf(before, updated(before, { ...before, email: 'b@x.example', firstName: 'Eve' })),
    ...eventsOf(before, undefined),
  ];
  expect(events).toHaveLength(3);
  expect(JSON.stringify(events)).not.toMatch(/example|Ada|Eve/);
});

test('each change occurs later than the one before, within a millisecond and with a wrong clock', () => {
  const ahead = Date.now() + 3_600_000;
  const first = { ...BLANK, enrollments: [{ ...active('inn'), updatedAt: ahead }] };
  const second = updated(first, { ...first, firstName: 'Bea' });
  const third = updated(second, { ...second, firstName: 'Cleo' });
  expect([
    eventsOf(first, second)[0]?.occurredAt,
    eventsOf(second, third)[0]?.occurredAt,
    eventsOf(third, undefined)[0]?.occurredAt,
  ]).toEqual([ahead + 1, ahead + 2, ahead + 3]);
});

test.each(Object.keys(TOKEN_USES) as TokenUse[])(
  'a token for %s has 32 random bytes and is found by its hash',
  (use) => {
    const { token, hash } = makeToken(use);
    expect(Buffer.from(token.slice(3), 'base64url')).toHaveLength(32);
    expect(token.startsWith(TOKEN_USES[use].prefix)).toBe(true);
    expect(hashToken(use, token)).toBe(hash);
    expect(makeToken(use).token).not.toBe(token);
  },
);

test.each([
  '',
  'ml_',
  'ml_short',
  `ml_${'x'.repeat(44)}`,
  `ml_${'x'.repeat(42)}=`,
  `ec_${'x'.repeat(43)}`,
  `ml_${'x'.repeat(43)}\n`,
])('text that cannot be a token has no hash, so it costs no look-up: %j', (text) =>
  expect(hashToken('sign-in', text)).toBeUndefined(),
);
