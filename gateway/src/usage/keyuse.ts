// Counts the requests of each key, and writes the counts once a minute.
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';
import { hourOf } from './requests.ts';
import type { KeyUse, UsageStore } from './usagestore.ts';

const WRITE_MS = 60_000;
const DEADLINE_MS = 10_000;
/** Keys between two writes. Further ones are not counted. */
const MAX_KEYS = 10_000;

export type KeyUseCounter = {
  /** Counts a request with a key by the HTTP status of its response, once that has ended. */
  count(keyId: string, status: number): void;
  /**
   * Writes what is counted so far, unless a write is under way. Never rejects: what cannot be
   * written is logged and lost.
   */
  write(): Promise<void>;
  /** Writes for the last time. */
  close(): Promise<void>;
};

type Count = Omit<KeyUse, 'keyId' | 'hour' | 'lastUsedAt'> & { lastUsedMs: number };

/** `now` is the time in milliseconds since 1970. */
export function createKeyUseCounter(
  store: Pick<UsageStore, 'addKeyUses'>,
  { log }: { log: Pick<Log, 'outage'> },
  now: () => number = Date.now,
): KeyUseCounter {
  let counts = new Map<string, Count>();
  let writing: Promise<void> | undefined;

  async function writeCounts(uses: KeyUse[]): Promise<void> {
    try {
      await withTimeout(
        store.addKeyUses(uses),
        DEADLINE_MS,
        'the usage store did not respond in time',
      );
    } catch (error) {
      log.outage({ store: 'usage', err: error }, 'the use of keys could not be written');
    } finally {
      writing = undefined;
    }
  }

  function write(): Promise<void> {
    if (writing !== undefined || counts.size === 0) return writing ?? Promise.resolve();
    const uses = Array.from(counts, ([keyId, count]) => keyUse(keyId, count));
    counts = new Map();
    writing = writeCounts(uses);
    return writing;
  }

  const timer = setInterval(write, WRITE_MS).unref();
  return {
    count(keyId, status) {
      let count = counts.get(keyId);
      if (count === undefined) {
        if (counts.size >= MAX_KEYS) return;
        count = { requests: 0, refusals: 0, errors: 0, lastUsedMs: 0 };
        counts.set(keyId, count);
      }
      count.requests += 1;
      if (status >= 500) count.errors += 1;
      else if (status >= 400) count.refusals += 1;
      count.lastUsedMs = now();
    },
    write,
    async close() {
      clearInterval(timer);
      await writing;
      await write();
    },
  };
}

/** What was counted in a minute is all in the hour of the last request. */
function keyUse(keyId: string, { lastUsedMs, ...counts }: Count): KeyUse {
  const lastUsedAt = new Date(lastUsedMs);
  return { keyId, hour: hourOf(lastUsedAt), ...counts, lastUsedAt };
}
