// A cache of stored records and the reads that fill it: look-ups share a read with a deadline.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { timeoutError, withTimeout } from '@partner-loyalty/runtime/timeout.ts';

const DEADLINE_MS = 2_000;

/** `readAt` is when the read that found the record began, `failedAt` when a later read failed. */
export type Entry<T> = { record: T; readAt: number; failedAt: number };

/** What a read found, undefined if there is no such record; or why it failed. */
export type RecordRead<T> = { record: T | undefined } | { error: ApiError };

export type RecordCache<T> = {
  get(id: string): Entry<T> | undefined;
  /**
   * Joins the read in flight or starts one, which updates the entry. Returns the plain value if the
   * store is synchronous. Never throws or rejects: a failure is the value SERVICE_UNAVAILABLE.
   */
  read(id: string): MaybePromise<RecordRead<T>>;
  inFlight(id: string): Promise<RecordRead<T>> | undefined;
  /** When the last read that found a record began. */
  lastReadAt(): number;
};

export type RecordSource<T> = {
  /** Reads a record; undefined if there is none, which is not kept. */
  find(id: string): MaybePromise<T | undefined>;
  /** The bytes of a record in the cache. */
  weigh(record: T): number;
  caches: Caches;
  log: Pick<Log, 'outage'>;
  /** Counts milliseconds and never jumps. */
  uptime(): number;
};

/**
 * lru-cache's own `fetch` does not fit: it returns a promise even for a hit, has one TTL for both
 * refresh and expiry, and joins a read that began before a record was created.
 */
export function createRecordCache<T>(source: RecordSource<T>): RecordCache<T> {
  const { caches, uptime, log } = source;
  const entries = caches.open<Entry<T>>(({ record }) => source.weigh(record));
  const reads = new Map<string, Promise<RecordRead<T>>>();
  let lastReadAt = Number.NEGATIVE_INFINITY;

  function start(id: string): MaybePromise<RecordRead<T>> {
    const readAt = uptime();
    const succeeded = (found: T | undefined) => keep(id, found, readAt);
    const failed = (error: unknown) => keepFailure(id, error);
    try {
      const found = source.find(id);
      if (!(found instanceof Promise)) return succeeded(found);
      const read = withTimeout(found, DEADLINE_MS, tooLate)
        .then(succeeded, failed)
        .finally(() => reads.delete(id));
      reads.set(id, read);
      return read;
    } catch (error) {
      return failed(error);
    }
  }

  function keep(id: string, record: T | undefined, readAt: number): RecordRead<T> {
    if (record === undefined) {
      entries.delete(id);
    } else {
      entries.set(id, { record, readAt, failedAt: Number.NEGATIVE_INFINITY });
      lastReadAt = readAt;
    }
    return { record };
  }

  function keepFailure(id: string, cause: unknown): RecordRead<T> {
    const entry = entries.peek(id);
    if (entry) entry.failedAt = uptime();
    log.outage({ store: 'keys', err: cause }, 'a key or partner could not be read');
    return { error: new ApiError('SERVICE_UNAVAILABLE', undefined, { cause }) };
  }

  return {
    get: (id) => entries.get(id),
    read: (id) => reads.get(id) ?? start(id),
    inFlight: (id) => reads.get(id),
    lastReadAt: () => lastReadAt,
  };
}

function tooLate(): Error {
  return timeoutError('the key store did not respond in time');
}
