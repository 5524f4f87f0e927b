// Tokens that members are mailed: made at random, kept by their hash alone, told apart by their first letters.
import { hash, randomBytes } from 'node:crypto';
import type { Address } from '../store/store.ts';

const MINUTE_MS = 60_000;

/** What a token is good for. Its prefix tells the sign-in page what to offer; a lifetime begins when the mail is made. */
export const TOKEN_USES = {
  'sign-in': { prefix: 'ml_', lifetimeMs: 15 * MINUTE_MS },
  change: { prefix: 'ec_', lifetimeMs: 15 * MINUTE_MS },
  /** From the change on. */
  undo: { prefix: 'eu_', lifetimeMs: 7 * 24 * 60 * MINUTE_MS },
} as const;

export type TokenUse = keyof typeof TOKEN_USES;

/** A token as its member's row holds it. `hash` is the SHA-256 in hexadecimal, `expiresAt` counts milliseconds since 1970. */
export type StoredToken = { hash: string; expiresAt: number } & (
  | {
      use: 'sign-in';
      /** Who asked for it. */
      partnerId: string;
      /** Where it was mailed to; it is good while that is the member's current address. */
      address: string;
      /** Whether it was mailed for this service's own page; else it has been through the partner's hands. */
      ownPage: boolean;
    }
  | { use: 'change'; address: Address }
  | { use: 'undo'; changeId: string }
);

/** A proven change of address, as long as it can be undone. `at` counts milliseconds since 1970. */
export type AddressChange = {
  id: string;
  at: number;
  from: Address;
  /** The canonical new address, and whether it was the member's own before. */
  to: string;
  known: boolean;
};

export type SignInToken = Extract<StoredToken, { use: 'sign-in' }>;

/** A new token of 32 random bytes, and the hash that is stored of it. */
export function makeToken(use: TokenUse): { token: string; hash: string } {
  const token = `${TOKEN_USES[use].prefix}${randomBytes(32).toString('base64url')}`;
  return { token, hash: hash('sha256', token) };
}

/** The hash to find a token by; undefined for what cannot be a token of this use. */
export function hashToken(use: TokenUse, token: string): string | undefined {
  const { prefix } = TOKEN_USES[use];
  return token.startsWith(prefix) && /^[\w-]{43}$/.test(token.slice(prefix.length))
    ? hash('sha256', token)
    : undefined;
}
