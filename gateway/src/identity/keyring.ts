// Finds keys by their text, and what they may be used for (docs/api.md, Keys).
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { addressCheck } from '@partner-loyalty/runtime/http/address.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { type ScopeBits, scopeBits } from '../schema/scopes.ts';
import { defaultScopes, hashKey } from './apikey.ts';
import { createFreshRecords } from './freshrecords.ts';
import type { FoundKey, KeyEndpoint, KeyStore } from './keystore.ts';

/** Measured (test/memory), with ids of 128 characters. */
const BYTES_PER_KEY = 1_024;
/** Of an address list: a parsed IPv6 address has eight numbers. */
const BYTES_PER_RANGE = 512;

/** A key that is not revoked, with what its partner decides. */
export type Key = {
  keyId: string;
  partnerId: string;
  /** The only endpoint that accepts it. */
  endpoint: KeyEndpoint;
  budget?: number | undefined;
  /** Whether its partner is suspended. */
  isSuspended: boolean;
  expiresAt?: Date | undefined;
  scopes: ScopeBits;
  /** Undefined if every address may use the key. */
  allowed?: AddressList | undefined;
};

type AddressList = { ranges: number; has(address: string): boolean };

export type Keyring = {
  /**
   * The valid key with this text; undefined if it is unknown, revoked or expired. Returns the
   * plain value unless it has to wait for the store. A new key works at once. A key stops at its
   * expiry, and within 5 seconds of its revocation. Fails with SERVICE_UNAVAILABLE, after at most
   * 2 seconds, if the store does not respond and has not confirmed the key for 60 seconds.
   */
  find(text: string): MaybePromise<Key | undefined>;
  /** When the last read that found a key began, on `uptime`'s clock. */
  lastReadAt(): number;
};

/** `now` is the time in milliseconds since 1970; `uptime` counts milliseconds and never jumps. */
export function createKeyring({
  store,
  caches,
  log,
  metrics = { keyCache() {} },
  now = Date.now,
  uptime = () => performance.now(),
}: {
  store: Pick<KeyStore, 'keyByHash'>;
  caches: Caches;
  log: Pick<Log, 'outage'>;
  metrics?: Pick<Metrics, 'keyCache'>;
  now?: () => number;
  uptime?: () => number;
}): Keyring {
  const find = (hash: string) => mapMaybe(store.keyByHash(hash), validKey);
  const keys = createFreshRecords({ find, weigh, caches, uptime, log }, metrics.keyCache);
  const unlessExpired = (key: Key | undefined) =>
    key?.expiresAt === undefined || key.expiresAt.getTime() > now() ? key : undefined;

  return {
    find: (text) => mapMaybe(keys.find(hashKey(text)), unlessExpired),
    lastReadAt: keys.lastReadAt,
  };
}

function validKey(found: FoundKey | undefined): Key | undefined {
  if (found === undefined || found.key.revokedAt !== undefined) return undefined;
  const { keyId, partnerId, expiresAt, allow, endpoint = 'graphql' } = found.key;
  const { scopes = defaultScopes(endpoint) } = found.key;
  const { budget, suspendedAt } = found.partner;
  return {
    keyId,
    partnerId,
    endpoint,
    budget,
    isSuspended: suspendedAt !== undefined,
    expiresAt,
    scopes: scopeBits(scopes),
    allowed: allow && addressList(allow),
  };
}

/** Most keys are used from one address, so the last one is not compared with the ranges again. */
function addressList(allow: readonly string[]): AddressList {
  const isAllowed = addressCheck(allow);
  let last: string | undefined;
  return {
    ranges: allow.length,
    has(address) {
      if (address === last) return true;
      if (!isAllowed(address)) return false;
      last = address;
      return true;
    },
  };
}

function weigh({ allowed }: Key): number {
  return BYTES_PER_KEY + (allowed?.ranges ?? 0) * BYTES_PER_RANGE;
}
