// Finds stored records in a cache, which it trusts for a limited time (docs/callers/keys.md).
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';

/** While the store of keys fails, a record stays valid this long after its last successful read. */
export const OUTAGE_MS = 60_000;

/**
 * A look-up from `refreshMs` on reads the record again in the background, so that no look-up of a
 * busy record waits; a changed one shows within `staleMs`. While reads fail, a record stays valid
 * for `outageMs`. A failed read is retried after `retryMs`, and look-ups within `noWaitMs` of it do
 * not wait for the retry; that is below `staleMs`, so that a change takes effect in time.
 */
const KEY_STORE = {
  refreshMs: 2_500,
  staleMs: 5_000,
  outageMs: OUTAGE_MS,
  retryMs: 500,
  noWaitMs: 4_000,
  deadlineMs: 2_000,
};
export type FreshTimes = typeof KEY_STORE;

type Outcome = 'hit' | 'miss' | 'stale';

/** Its address takes a while to parse, so it is read only where it matters. */
export type Client = { readonly address: string };

/**
 * lru-cache's own `fetch` does not fit: it returns a promise even for a hit, and has one TTL for
 * both refresh and expiry.
 */
export function createFreshRecords<T>(source: RecordSource<T>, count: (outcome: Outcome) => void) {
  const { caches, uptime, admit, log, times = KEY_STORE } = source;
  const entries = caches.open<Entry<T>>(({ record }) => source.weigh(record));
  const reads = new Map<string, Promise<RecordRead<T>>>();
  let lastReadAt = Number.NEGATIVE_INFINITY;

  /**
   * Joins the read in flight or starts one, which updates the entry. Returns the plain value if the
   * store is synchronous. Never throws or rejects: a failure is SERVICE_UNAVAILABLE.
   */
  function read(id: string): MaybePromise<RecordRead<T>> {
    return reads.get(id) ?? start(id);
  }

  function start(id: string): MaybePromise<RecordRead<T>> {
    const readAt = uptime();
    const succeeded = (found: T | undefined) => keep(id, found, readAt);
    const failed = (error: unknown) => keepFailure(id, error);
    try {
      const found = source.find(id);
      if (!(found instanceof Promise)) return succeeded(found);
      const reading = withTimeout(found, times.deadlineMs, 'the source did not respond in time')
        .then(succeeded, failed)
        .finally(() => reads.delete(id));
      reads.set(id, reading);
      return reading;
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

  function findCached(id: string, entry: Entry<T>, state: State): MaybePromise<T | undefined> {
    if (state === 'failing') return counted(entry.record, 'stale');
    const found = read(id);
    if (found instanceof Promise && state === 'aging') return counted(entry.record, 'hit');
    if (found instanceof Promise && state === 'retrying') return counted(entry.record, 'stale');
    return mapMaybe(found, (result) => {
      if ('record' in result) return counted(result.record, 'miss');
      if (state === 'expired') throw result.error;
      return counted(entry.record, 'stale');
    });
  }

  function findUncached(id: string, client: Client | undefined): MaybePromise<T | undefined> {
    const joined = reads.get(id);
    if (joined !== undefined) return counted(joined, 'hit').then(recordOrThrow);
    const find = () => mapMaybe(counted(read(id), 'miss'), recordOrThrow);
    return client === undefined || admit === undefined ? find() : admit(id, client, find);
  }

  function counted<R>(found: R, outcome: Outcome): R {
    count(outcome);
    return found;
  }

  return {
    /**
     * The record; undefined if there is none. Returns the plain value unless it has to wait for the
     * store. A change is seen within 5 seconds. Fails with SERVICE_UNAVAILABLE, after at most 2
     * seconds, if the store does not respond and has not confirmed the record for 60 seconds.
     */
    find(id: string, client?: Client): MaybePromise<T | undefined> {
      const entry = entries.get(id);
      if (entry === undefined) return findUncached(id, client);
      const state = stateOf(entry, uptime(), times);
      return state === 'fresh' ? counted(entry.record, 'hit') : findCached(id, entry, state);
    },
    /** The read in progress, if there is one. Never rejects. */
    reading: (id: string): Promise<unknown> | undefined => reads.get(id),
    /** Joins the read in progress, or reads the record again. Never rejects. */
    read,
    /** When the last read that found a record began, on `uptime`'s clock. */
    lastReadAt: () => lastReadAt,
  };
}

/**
 * - fresh: use the entry.
 * - aging: use it, and read the record in the background.
 * - stale: wait for a read, and use the entry only if that fails.
 * - failing: use the entry, since a read failed a moment ago.
 * - retrying: use the entry, since a read failed recently, and read the record in the background.
 * - expired: wait for a read; the entry is no longer valid.
 *
 * A synchronous store responds without a wait, so every state that reads uses its response.
 */
type State = 'fresh' | 'aging' | 'stale' | 'failing' | 'retrying' | 'expired';

function stateOf({ readAt, failedAt }: Entry<unknown>, time: number, times: FreshTimes): State {
  const age = time - readAt;
  if (age < times.refreshMs) return 'fresh';
  if (age >= times.outageMs) return 'expired';
  const sinceFailure = time - failedAt;
  if (sinceFailure < times.retryMs) return 'failing';
  if (sinceFailure < times.noWaitMs) return 'retrying';
  return age < times.staleMs ? 'aging' : 'stale';
}

function recordOrThrow<T>(read: RecordRead<T>): T | undefined {
  if ('error' in read) throw read.error;
  return read.record;
}

/** `readAt` is when the read that found the record began, `failedAt` when a later read failed. */
type Entry<T> = { record: T; readAt: number; failedAt: number };

/** What a read found, undefined if there is no such record; or why it failed. */
type RecordRead<T> = { record: T | undefined } | { error: ApiError };

type RecordSource<T> = {
  /** Reads a record; undefined if there is none, which is not kept. */
  find(id: string): MaybePromise<T | undefined>;
  /** Decides whether a client causes the read of a record that is not in the cache. */
  admit?(
    id: string,
    client: Client,
    read: () => MaybePromise<T | undefined>,
  ): MaybePromise<T | undefined>;
  weigh(record: T): number;
  times?: FreshTimes;
  caches: Caches;
  log: Pick<Log, 'outage'>;
  /** Counts milliseconds and never jumps. */
  uptime(): number;
};
