// Counts the requests of each key, and writes the counts once a minute.
import { hourOf } from '@partner-loyalty/gateway/usage/requests.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { KeyUseInHour, UsageStore } from './records.ts';
import { createWriter, type Writer } from './writer.ts';

const WRITE_MS = 60_000;
/** Keys between two writes. Further ones are not counted. */
const MAX_KEYS = 10_000;

type Count = Omit<KeyUseInHour, 'keyId' | 'hour' | 'lastUsedAt'> & { lastUsedMs: number };

/** `count` counts by HTTP status; a fault of the sandbox has none. `now` is in milliseconds. */
export function createKeyUseCounter(
  store: Pick<UsageStore, 'addKeyUses'>,
  { log }: { log: Pick<Log, 'outage'> },
  now: () => number = Date.now,
): Writer & { count(keyId: string, status: number | undefined): void } {
  let counts = new Map<string, Count>();

  function take(): KeyUseInHour[] | undefined {
    const uses = Array.from(counts, ([keyId, { lastUsedMs, ...count }]) => {
      // What was counted in a minute is all in the hour of the last request.
      const lastUsedAt = new Date(lastUsedMs);
      return { keyId, hour: hourOf(lastUsedAt), ...count, lastUsedAt };
    });
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
      count.lastUsedMs = now();
      if (status === undefined) return;
      count.requests += 1;
      if (status >= 500) count.errors += 1;
      else if (status >= 400) count.refusals += 1;
    },
    ...createWriter(take, store.addKeyUses, options),
  };
}
