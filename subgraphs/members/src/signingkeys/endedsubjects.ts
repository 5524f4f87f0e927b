// Which sessions, apps, and members' uses of apps were ended, so that their tokens are refused.
import { mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { EndedSubject } from '@partner-loyalty/runtime/signin/exchange.ts';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import { KEPT_MS } from './endedsessions.ts';

export const ENDED_SUBJECTS: TableDefinition<EndedSubject> = {
  name: 'endedsubjects',
  id: 'subject',
  orders: ['endedAt'],
};

export type EndedSubjectStore = Awaited<ReturnType<typeof openEndedSubjects>>;

/** Subjects are `sid:ID`, `app:MEMBER/CLIENT` and `client:ID`; those of members are apart. */
export async function openEndedSubjects(open: OpenTable) {
  const subjects = await open(ENDED_SUBJECTS);
  return {
    /** Ends one; forgets those that ended over KEPT_MS ago. */
    async end(subject: string, endedAt: number): Promise<void> {
      await subjects.put({ subject, endedAt });
      await subjects.removeUntil('endedAt', endedAt - KEPT_MS);
    },
    /** When it ended last; undefined if that was never or too long ago. */
    find: (subject: string) => mapMaybe(subjects.get(subject), (ended) => ended?.endedAt),
    /** Those that ended at `since` or later, the earliest first, at most `limit`. */
    list: (since: number, limit: number) => subjects.range('endedAt', since, limit),
    /** Removes those of apps of a member who no longer exists. */
    forget: (memberId: string) =>
      subjects.removeWhere(({ subject }) => subject.startsWith(`app:${memberId}/`)),
  };
}
