// Mailed tokens: what they are made of, and which texts can be one.
import { hashToken, makeToken, TOKEN_USES, type TokenUse } from './mailedtoken.ts';

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
