// Finds keys by their text, and what they may be used for (docs/callers/keys.md).
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { addressCheck } from '@partner-loyalty/runtime/http/address.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { LRUCache } from 'lru-cache';
import { type ScopeBits, scopeBits } from '../schema/scopes.ts';
import { defaultScopes, hashKey } from './apikey.ts';
import { type Client, createFreshRecords } from './freshrecords.ts';
import type { FoundKey, KeyEndpoint, KeyStore } from './keystore.ts';
import { createKnownKeys } from './knownkeys.ts';

/** Measured (test/memory), with ids of 128 characters. */
const BYTES_PER_KEY = 1_024;
/** Memory of a range in an address list: a parsed IPv6 address has eight numbers. */
const BYTES_PER_RANGE = 512;

/** How long a key that was not found causes no other read; each takes about 0.2 KB. */
const ABSENT = { ttl: 5_000, ttlResolution: 0, max: 20_000 };

/** A key, with what its partner decides. */
export type Key = {
  keyId: string;
  partnerId: string;
  endpoint: KeyEndpoint;
  budget?: number | undefined;
  isSuspended: boolean;
  expiresAt?: Date | undefined;
  /** Why it is no longer valid; undefined if it is. */
  ended?: 'revoked' | 'expired' | undefined;
  scopes: ScopeBits;
  /** Undefined if every address may use the key. */
  allowed?: AddressList | undefined;
};

type AddressList = { ranges: number; has(address: string): boolean };

export type Keyring = ReturnType<typeof createKeyring>;

/** The refused credentials of client addresses, which have a limit (gateway/src/budget). */
type Refusals = {
  /** Whether the address would be over its limit if all that is pending were refused. */
  mayBeOver(address: string): boolean;
  /** Runs what looks up a credential, which is pending meanwhile. */
  duringLookUp<T>(address: string, run: () => MaybePromise<T>): MaybePromise<T>;
};

/** `now` is the time in milliseconds since 1970; `uptime` counts milliseconds and never jumps. */
export function createKeyring({
  store,
  caches,
  log,
  metrics = { keyCache() {} },
  refusals,
  now = Date.now,
  uptime = () => performance.now(),
}: {
  store: Pick<KeyStore, 'keyByHash' | 'addedHashes'>;
  caches: Caches;
  log: Pick<Log, 'outage'>;
  metrics?: Pick<Metrics, 'keyCache'>;
  refusals: Refusals;
  now?: () => number;
  uptime?: () => number;
}) {
  const find = (hash: string) => mapMaybe(store.keyByHash(hash), toKey);
  const weigh = ({ allowed }: Key) => BYTES_PER_KEY + (allowed?.ranges ?? 0) * BYTES_PER_RANGE;
  const source = { find, admit, weigh, caches, uptime, log };
  const keys = createFreshRecords(source, metrics.keyCache);
  const absent = new LRUCache<string, true>({ ...ABSENT, perf: { now: uptime } });
  const mayExist = createKnownKeys(store, log, uptime);

  function admit(hash: string, { address }: Client, read: () => MaybePromise<Key | undefined>) {
    const unread = (): undefined => {
      metrics.keyCache('hit');
    };
    const readNoted = () =>
      mapMaybe(read(), (key) => {
        if (key === undefined) absent.set(hash, true);
        return key;
      });
    if (absent.has(hash)) return unread();
    if (!refusals.mayBeOver(address)) return refusals.duringLookUp(address, readNoted);
    return mayExist(hash).then((may) => (may ? readNoted() : unread()));
  }

  const withExpiry = (key: Key | undefined): Key | undefined =>
    key?.expiresAt === undefined || key.expiresAt.getTime() > now()
      ? key
      : { ended: 'expired', ...key };

  return {
    /**
     * The key with this text, even if it has ended; undefined if it is unknown. Returns the plain
     * value unless it has to wait for the store. A new key is found at once, or 5 seconds after it
     * was looked up in vain; from an address that is over its limit of refused credentials, a tenth
     * of a second after its creation. A key ends at its expiry, and within 5 seconds of its
     * revocation. Fails with SERVICE_UNAVAILABLE, after at most 2 seconds, if the store does not
     * respond and has not confirmed the key for 60 seconds.
     */
    find: (text: string, client: Client) => mapMaybe(keys.find(hashKey(text), client), withExpiry),
    /** When the last read that found a key began, on `uptime`'s clock. */
    lastReadAt: keys.lastReadAt,
  };
}

function toKey(found: FoundKey | undefined): Key | undefined {
  if (found === undefined) return undefined;
  const { keyId, partnerId, expiresAt, revokedAt, allow, endpoint = 'graphql' } = found.key;
  const { scopes = defaultScopes(endpoint) } = found.key;
  const { budget, suspendedAt } = found.partner;
  return {
    keyId,
    partnerId,
    endpoint,
    budget,
    isSuspended: suspendedAt !== undefined,
    expiresAt,
    ...(revokedAt && { ended: 'revoked' }),
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
