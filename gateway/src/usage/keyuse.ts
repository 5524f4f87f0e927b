// Counts the requests of each key, and writes the counts once a minute.
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { hourOf } from './requests.ts';
import type { KeyUse, UsageStore } from './usagestore.ts';
import { createWriter, type Writer } from './writer.ts';

const WRITE_MS = 60_000;
/** Keys between two writes. Further ones are not counted. */
const MAX_KEYS = 10_000;

export type KeyUseCounter = Writer & {
  /** Counts a request with a key by the HTTP status of its response, once that has ended. */
  count(keyId: string, status: number): void;
};

type Count = Omit<KeyUse, 'keyId' | 'hour' | 'lastUsedAt'> & { lastUsedMs: number };

/** `now` is the time in milliseconds since 1970. */
export function createKeyUseCounter(
  store: Pick<UsageStore, 'addKeyUses'>,
  { log }: { log: Pick<Log, 'outage'> },
  now: () => number = Date.now,
): KeyUseCounter {
  let counts = new Map<string, Count>();

  function take(): KeyUse[] | undefined {
    const uses = Array.from(counts, ([keyId, count]) => keyUse(keyId, count));
    counts = new Map();
    return uses.length === 0 ? undefined : uses;
  }

  const options = { intervalMs: WRITE_MS, what: 'the use of keys', log };
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
    ...createWriter(take, store.addKeyUses, options),
  };
}

/** What was counted in a minute is all in the hour of the last request. */
function keyUse(keyId: string, { lastUsedMs, ...counts }: Count): KeyUse {
  const lastUsedAt = new Date(lastUsedMs);
  return { keyId, hour: hourOf(lastUsedAt), ...counts, lastUsedAt };
}
