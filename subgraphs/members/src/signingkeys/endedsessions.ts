// Which members' sessions, single sessions and apps were ended: their tokens are refused.
import { setTimeout } from 'node:timers/promises';
import { mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { EndedSubject } from '@partner-loyalty/runtime/signin/exchange.ts';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';

/** All of a member's tokens issued until `endedAt`, in milliseconds since 1970, are invalid. */
type EndedSessions = { memberId: string; endedAt: number };

/** How long they are kept: longer than a token lives (docs/callers/openid.md, Member tokens). */
const KEPT_MS = 25 * 3_600_000;
/** Longer than any token of an app lives, so that no caller can fill the gateways with them. */
const SUBJECTS_KEPT_MS = 65 * 60_000;

export const ENDED_SESSIONS: TableDefinition<EndedSessions> = {
  name: 'endedsessions',
  id: 'memberId',
  orders: ['endedAt'],
};

export type EndedSessionsStore = Awaited<ReturnType<typeof openEndedSessions>>;

/** `access` has the sessions themselves, and what apps hold. */
export async function openEndedSessions(
  open: OpenTable,
  access: { endAll(memberId: string): Promise<void> },
) {
  const sessions = await open(ENDED_SESSIONS);
  return {
    /** Ends a member's sessions and tokens; forgets those that ended over KEPT_MS ago. */
    async end({ memberId, endedAt }: EndedSessions): Promise<void> {
      await sessions.update(memberId, (before) => ({
        memberId,
        endedAt: Math.max(before?.endedAt ?? endedAt, endedAt),
      }));
      await access.endAll(memberId);
      await sessions.removeUntil('endedAt', endedAt - KEPT_MS);
    },
    /** When the member's sessions were ended last; undefined if that was never or too long ago. */
    find: (memberId: string) => mapMaybe(sessions.get(memberId), (ended) => ended?.endedAt),
    /** Forgets a member. Only for one who no longer exists. */
    forget: sessions.remove,
    /** The sessions that ended at `since` or later, the earliest first, at most `limit`. */
    list: (since: number, limit: number) => sessions.range('endedAt', since, limit),
  };
}

export const ENDED_SUBJECTS: TableDefinition<EndedSubject> = {
  name: 'endedsubjects',
  id: 'subject',
  orders: ['endedAt'],
};

/**
 * Subjects are `sid:ID`, `app:MEMBER/CLIENT`, where a partner may stand for a client, and
 * `client:ID`; those of members are apart.
 */
export async function openEndedSubjects(open: OpenTable) {
  const subjects = await open(ENDED_SUBJECTS);
  let latest = Number.NaN;
  return {
    /** Ends some; forgets those that ended over SUBJECTS_KEPT_MS ago. */
    async end(ended: readonly string[], now = Date.now): Promise<void> {
      for (let begin = 0; begin < ended.length; begin += MOST_AT_ONCE) {
        while (now() === latest) await setTimeout(1);
        const endedAt = now();
        latest = endedAt;
        await subjects.updateAll(ended.slice(begin, begin + MOST_AT_ONCE), (before, subject) => ({
          subject,
          endedAt: Math.max(before?.endedAt ?? endedAt, endedAt),
        }));
      }
      if (ended.length > 0) await subjects.removeUntil('endedAt', now() - SUBJECTS_KEPT_MS);
    },
    /** When it ended last; undefined if that was never or too long ago. */
    find: (subject: string) => mapMaybe(subjects.get(subject), (ended) => ended?.endedAt),
    /** The subjects that ended at `since` or later, the earliest first, at most `limit`. */
    list: (since: number, limit: number) => subjects.range('endedAt', since, limit),
    /** Removes those of apps of a member who no longer exists. */
    forget: (memberId: string) =>
      subjects.removeWhere(({ subject }) => subject.startsWith(`app:${memberId}/`)),
  };
}

/** How many one answer to the gateway has, which asks again for the rest, from the last time on. */
export const PAGE_SIZE = 1_000;

/**
 * How many subjects end within a millisecond in a process. Were it all of a page, the gateway would
 * get the same one again, and nothing that ended later.
 */
const MOST_AT_ONCE = 50;

/** What a new token waits at most for the end before it, where the clocks of processes differ. */
const MAX_WAIT_MS = 1_000;

/**
 * Resolves with the time of a new token, in milliseconds since 1970: `now`, or after the last end,
 * once that has come. No token is dated ahead, so that each end covers all that were given before.
 * Rejects by `refuse` with the milliseconds that are left if these are over a second.
 */
export async function timeOfToken(
  endedAt: number | undefined,
  now: number,
  refuse: (waitMs: number) => void,
): Promise<number> {
  const waitMs = endedAt === undefined ? 0 : endedAt + 1 - now;
  if (waitMs > MAX_WAIT_MS) refuse(waitMs);
  if (waitMs > 0) await setTimeout(waitMs);
  return now + Math.max(waitMs, 0);
}

/**
 * Ends the member's sessions, runs `act`, and ends them again. The first time, because a crash
 * after `act` must not leave them open; the second, because somebody may have signed in meanwhile.
 */
export async function endingSessions<T>(
  sessions: Pick<EndedSessionsStore, 'end'>,
  memberId: string,
  act: () => Promise<T>,
): Promise<T> {
  await sessions.end({ memberId, endedAt: Date.now() });
  const result = await act();
  await sessions.end({ memberId, endedAt: Date.now() });
  return result;
}
