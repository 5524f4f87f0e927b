// Ended sessions in the members store's LMDB: by member, and by time for reading the latest.
import type { RootDatabase } from 'lmdb';
import { type EndedSessionsStore, KEPT_MS } from './endedsessions.ts';

export function openSessionTables(root: RootDatabase) {
  return {
    byMember: root.openDB<number, string>({ name: 'ended-sessions', encoding: 'json' }),
    byTime: root.openDB<true, [endedAt: number, memberId: string]>({
      name: 'ended-sessions-by-time',
      encoding: 'json',
    }),
  };
}

export function createLmdbEndedSessions(root: RootDatabase): EndedSessionsStore {
  const { byMember, byTime } = openSessionTables(root);

  const forgetOld = (before: number) => {
    for (const key of [...byTime.getKeys({ end: [before, ''] })]) {
      byTime.remove(key);
      byMember.remove(key[1]);
    }
  };

  return {
    async end({ memberId, endedAt }) {
      await root.transaction(() => {
        forgetOld(endedAt - KEPT_MS);
        const former = byMember.get(memberId) ?? Number.NEGATIVE_INFINITY;
        if (former >= endedAt) return;
        byTime.remove([former, memberId]);
        byTime.put([endedAt, memberId], true);
        byMember.put(memberId, endedAt);
      });
      await root.flushed;
    },
    async forget(memberId) {
      await root.transaction(() => {
        const endedAt = byMember.get(memberId);
        if (endedAt === undefined) return;
        byTime.remove([endedAt, memberId]);
        byMember.remove(memberId);
      });
      await root.flushed;
    },
    find: (memberId) => byMember.get(memberId),
    list: (since, limit) =>
      [...byTime.getKeys({ start: [since, ''], limit })].map(([endedAt, memberId]) => ({
        memberId,
        endedAt,
      })),
  };
}
