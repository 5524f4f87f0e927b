// The lease by which one process at a time gives positions to events.
import { randomUUID } from 'node:crypto';
import { type Feed, LEASE, type Lease } from '../store/feed.ts';

const LEASE_MS = 10_000;
const RENEW_MS = 3_000;

/** This process's part in the lease. `now` returns milliseconds since 1970. */
export function createLease({ leases }: Pick<Feed, 'leases'>, now: () => number) {
  let held: Lease | undefined;
  /** The last token. A row that could not be read again may still have it. */
  let token: string = randomUUID();
  return {
    /** Takes or renews the lease. Resolves with its token; undefined if another process has it. */
    async take(): Promise<string | undefined> {
      const at = now();
      if (held !== undefined && at < held.until - LEASE_MS + RENEW_MS) return held.token;
      held = undefined;
      held = await leases.update(LEASE, (before) => {
        // A held lease that has ended may have been another process's meanwhile.
        const isOwn = before?.token === token;
        if (before !== undefined && !isOwn && before.until > at) return before;
        if (!isOwn) token = randomUUID();
        return { name: LEASE, token, until: at + LEASE_MS };
      });
      return held?.token;
    },
    async release(): Promise<void> {
      held = undefined;
      await leases.update(LEASE, (row) => (row?.token === token ? undefined : row));
    },
  };
}
