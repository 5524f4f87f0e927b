// What the version before has stored of a confirmation, and what revoking an app makes of it.

import { hashToken, makeToken, TOKEN_USES, type TokenUse } from './mailedtoken.ts';
import { type MemberRecord, newRecord } from './record.ts';
import { takeBack } from './token.ts';

const CONFIRMED_AT = 2_000;

function revoked(app: Parameters<typeof takeBack>[3], confirmedAt?: number) {
  const address = { typed: 'ada@example.com', canonical: 'ada@example.com' };
  const enrollment = { partnerId: 'inn', status: 'ACTIVE', updatedAt: 0, confirmedAt } as const;
  let record: MemberRecord = { ...newRecord('ada', address), enrollments: [enrollment] };
  const write = (_: unknown, next: MemberRecord) => {
    record = next;
    return next;
  };
  const records = { byId: () => record, byKey: () => undefined, merged: () => undefined, write };
  takeBack(records, 'ada', 'app_1', app);
  return record.enrollments[0]?.unconfirmed;
}

test.each<[string, Parameters<typeof revoked>, true | undefined]>([
  ['comes from an app that is older', [{ partnerId: 'inn', createdAt: 1 }, CONFIRMED_AT], true],
  ['stays if the app is newer', [{ partnerId: 'inn', createdAt: 3_000 }, CONFIRMED_AT], undefined],
  [
    "stays if the app is another partner's",
    [{ partnerId: 'b', createdAt: 1 }, CONFIRMED_AT],
    undefined,
  ],
  ['stays if nobody knows the app', [undefined, CONFIRMED_AT], undefined],
  ['stays if it is as old as the enrollment', [{ partnerId: 'inn', createdAt: 1 }], undefined],
])('a confirmation without a noted origin %s', (_, given, expected) => {
  expect(revoked(...given)).toBe(expected);
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
