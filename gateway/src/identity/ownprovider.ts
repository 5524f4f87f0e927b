// What the gateway knows of the built-in identity provider: its keys, and which sessions ended.
import type { JSONWebKeySet } from 'jose';
import { BUILT_IN, createJwks } from './jwks.ts';

/** Times are in milliseconds since 1970. */
export type EndedSessions = { memberId: string; endedAt: number };

export type OwnProvider = {
  signingKeys(): Promise<JSONWebKeySet>;
  /** Sessions that ended at `since` or later, the earliest first; empty if there are no more. */
  endedSessions(since: number): Promise<readonly EndedSessions[]>;
};

/** What a token says of itself; `issuedAt` is in seconds since 1970. */
export type IssuedToken = { memberId: string; issuedAt: number };

/** The longest that a token lives. */
const TOKEN_LIFETIME_MS = 24 * 3_600_000;
/** How far the clocks of the processes that end sessions may differ. */
const CLOCK_SKEW_MS = 60_000;

export function createOwnTokens(provider: OwnProvider, now: () => number = Date.now) {
  const ended = createEndedSessions(provider, now);
  const jwks = createJwks({
    times: BUILT_IN,
    async fetchKeys() {
      const [keys] = await Promise.all([provider.signingKeys(), ended.update()]);
      return keys;
    },
  });
  return {
    jwks,
    /** Whether the member's session has not ended, as of when the keys were read. */
    isCurrent: ({ memberId, issuedAt }: IssuedToken) => issuedAt > ended.secondOf(memberId),
  };
}

/** The sessions that ended in the last 24 hours, read a part at a time. */
function createEndedSessions(provider: Pick<OwnProvider, 'endedSessions'>, now: () => number) {
  // In the order of their ends as they were read, which is all but that of time.
  const seconds = new Map<string, number>();
  let latest = Number.NEGATIVE_INFINITY;

  const add = ({ memberId, endedAt }: EndedSessions) => {
    latest = Math.max(latest, endedAt);
    const second = Math.floor(endedAt / 1_000);
    if (second <= (seconds.get(memberId) ?? Number.NEGATIVE_INFINITY)) return;
    seconds.delete(memberId);
    seconds.set(memberId, second);
  };

  const forgetOld = () => {
    const oldest = (now() - TOKEN_LIFETIME_MS - CLOCK_SKEW_MS) / 1_000;
    for (const [memberId, second] of seconds) {
      if (second > oldest) return;
      seconds.delete(memberId);
    }
  };

  return {
    secondOf: (memberId: string) => seconds.get(memberId) ?? Number.NEGATIVE_INFINITY,
    async update(): Promise<void> {
      forgetOld();
      const begin = Math.max(now() - TOKEN_LIFETIME_MS, latest) - CLOCK_SKEW_MS;
      for (let since = begin; ; ) {
        const part = await provider.endedSessions(since);
        part.forEach(add);
        const last = part.at(-1)?.endedAt;
        if (last === undefined || last <= since) return;
        since = last;
      }
    },
  };
}
