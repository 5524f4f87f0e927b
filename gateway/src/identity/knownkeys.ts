// A filter of the keys that exist, so that a flood of unknown ones causes no reads of the store.
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';
import type { KeyStore } from './keystore.ts';

const MAX_AGE_MS = 100;
const DEADLINE_MS = 2_000;
/**
 * A Bloom filter of 4 MiB, outside of the heap. Of unknown keys, it takes 1 in 6,000 for known if a
 * million exist, and 1 in 25 if there are five million.
 */
const BITS = 2 ** 25;
/** Positions in the hexadecimal digits of a hash, each of a number of 32 bits. */
const NUMBERS = [0, 8, 16, 24];

/**
 * Returns a function that says, by the hash of a key, whether it may exist: false if there was no
 * such key a tenth of a second ago. The filter takes its memory and reads the store at the first
 * call, and then reads what is new, at most ten times a second. Calls reject with
 * SERVICE_UNAVAILABLE, after at most 2 seconds, if it cannot be read.
 */
export function createKnownKeys(
  store: Pick<KeyStore, 'addedHashes'>,
  log: Pick<Log, 'outage'>,
  uptime: () => number,
) {
  let filter = new Uint8Array(0);
  let mark: number | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  async function readAdded(): Promise<void> {
    const begunAt = uptime();
    if (filter.length === 0) filter = new Uint8Array(BITS / 8);
    mark = await store.addedHashes(mark, (hash) => {
      for (const bit of bitsOf(hash)) filter[bit >> 3] = byteAt(filter, bit) | (1 << (bit & 7));
    });
    readAt = begunAt;
  }

  let reading: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    reading ??= readAdded().finally(() => {
      reading = undefined;
    });
    try {
      await withTimeout(reading, DEADLINE_MS, 'the key store did not list the keys in time');
    } catch (cause) {
      log.outage({ store: 'keys', err: cause }, 'the keys that exist could not be read');
      throw new ApiError('SERVICE_UNAVAILABLE', undefined, { cause });
    }
  }

  return async (hash: string): Promise<boolean> => {
    if (uptime() - readAt >= MAX_AGE_MS) await refresh();
    return bitsOf(hash).every((bit) => (byteAt(filter, bit) & (1 << (bit & 7))) !== 0);
  };
}

/** A hash is random, so any part of it is as good as another hash. */
function bitsOf(hash: string): number[] {
  return NUMBERS.map((at) => Number.parseInt(hash.slice(at, at + 8), 16) % BITS);
}

function byteAt(filter: Uint8Array, bit: number): number {
  return filter[bit >> 3] ?? 0;
}
