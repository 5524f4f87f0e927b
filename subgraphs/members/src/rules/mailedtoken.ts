// Tokens and codes that people receive by mail: random, and stored as hashes.
import { hash, randomBytes, randomInt } from 'node:crypto';
import type { Address } from './member.ts';

const MINUTE_MS = 60_000;

/**
 * What a token is for. The sign-in page knows by its prefix what to offer. The lifetime starts when
 * the mail is composed.
 */
export const TOKEN_USES = {
  'sign-in': { prefix: 'ml_', lifetimeMs: 15 * MINUTE_MS },
  /** Not stored with a member: only the browser that began the sign-in can use it. */
  browser: { prefix: 'si_', lifetimeMs: 15 * MINUTE_MS },
  change: { prefix: 'ec_', lifetimeMs: 15 * MINUTE_MS },
  /** The lifetime starts with the change of address. */
  undo: { prefix: 'eu_', lifetimeMs: 7 * 24 * 60 * MINUTE_MS },
  /** The lifetime starts with the undoing. */
  contest: { prefix: 'co_', lifetimeMs: 7 * 24 * 60 * MINUTE_MS },
  /** Not stored with a member, because there may be none yet. */
  invitation: { prefix: 'in_', lifetimeMs: 7 * 24 * 60 * MINUTE_MS },
} as const;

export type TokenUse = keyof typeof TOKEN_USES;

/** How long who has used a token or code can send it again, as the answer may be lost. */
export const REPEAT_MS = MINUTE_MS;

/** When a token or a sign-in was used first. What has ended since does not begin again. */
export function firstUseOf({ usedBy, expiresAt }: { usedBy?: string; expiresAt: number }) {
  return usedBy === undefined ? undefined : expiresAt - REPEAT_MS;
}

/**
 * A token in its member's record. `hash` is its SHA-256 in hexadecimal; `expiresAt` is in
 * milliseconds since 1970. `usedBy` is the form that has used it, which can do so again until then.
 */
export type StoredToken = { hash: string; expiresAt: number; usedBy?: string } & (
  | {
      use: 'sign-in';
      /** The partner that requested it. */
      partnerId: string;
      /**
       * The address it was mailed to; the token is valid as long as this is the member's current
       * address.
       */
      address: string;
      /**
       * Whether the link opened this service's own page; otherwise the token has passed through the
       * partner's hands.
       */
      ownPage: boolean;
    }
  | { use: 'change'; address: Address }
  | { use: 'undo'; changeId: string }
  | {
      use: 'contest';
      /** The address that was taken away, to which it was mailed. */
      address: string;
    }
);

export type SignInToken = Extract<StoredToken, { use: 'sign-in' }>;
export type ChangeToken = Extract<StoredToken, { use: 'change' }>;

/**
 * A confirmed change of address, kept as long as it can be undone. `at` is in milliseconds since
 * 1970.
 */
export type AddressChange = {
  id: string;
  at: number;
  from: Address;
  /** The new address, canonical, and as it was typed. */
  to: string;
  typed?: string | undefined;
  /** Whether the new address was one of the member's earlier ones. */
  known: boolean;
};

/**
 * A canonical address that undoing took away from its member, kept as long as that can be
 * contested, and as it was typed. `undoId` identifies the undoing, and `at` is its time, in
 * milliseconds since 1970.
 */
export type TakenAddress = {
  undoId: string;
  at: number;
  address: string;
  typed?: string | undefined;
};

/** A new token of 32 random bytes, and the hash to store. */
export function makeToken(use: TokenUse): { token: string; hash: string } {
  const token = `${TOKEN_USES[use].prefix}${randomBytes(32).toString('base64url')}`;
  return { token, hash: hash('sha256', token) };
}

/** The hash to find a token by; undefined if the text cannot be a token of this use. */
export function hashToken(use: TokenUse, token: string): string | undefined {
  const { prefix } = TOKEN_USES[use];
  return token.startsWith(prefix) && /^[\w-]{43}$/.test(token.slice(prefix.length))
    ? hash('sha256', token)
    : undefined;
}

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
/** Of what is read, since normalizing takes long: enough for a code with separators. */
const MAX_TYPED = 64;

export function makeCode(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** The code as it is made, from what was typed: neither case, width nor separators matter. */
export function readCode(typed: string): string {
  return typed
    .slice(0, MAX_TYPED)
    .normalize('NFKC')
    .replace(/[^a-z]/gi, '')
    .toUpperCase();
}
