// Ends sessions and what apps hold: their tokens are refused, and no new ones are issued.
import { setTimeout } from 'node:timers/promises';
import type { MembersStore } from '../store/store.ts';

export type EndingStore = Pick<MembersStore, 'access' | 'endedSessions' | 'endedSubjects'>;

/** How far the clocks of processes may differ. */
const CLOCK_SKEW_MS = 2_000;

export type Endings = ReturnType<typeof createEndings>;

export function createEndings({ access, endedSessions, endedSubjects }: EndingStore) {
  const endAll = async (subjects: readonly string[]) => {
    for (const subject of subjects) await endedSubjects.end(subject, Date.now());
  };

  /**
   * Ends the subjects, acts, and ends again what the act took away. The first time, because a crash
   * must not leave tokens valid; the second, because tokens may have been issued meanwhile.
   */
  async function ending(subjects: string[], act: () => Promise<string[]>): Promise<void> {
    await endAll(subjects);
    const lost = await act();
    await endAll([...new Set([...subjects, ...lost.map((sid) => `sid:${sid}`)])]);
  }

  return {
    endGrant: (memberId: string, sid: string) =>
      ending([`sid:${sid}`], () => access.endGrant(memberId, sid)),
    async endSession(memberId: string, sessionId: string): Promise<void> {
      const { apps = [] } = (await access.find(memberId)) ?? {};
      const grants = apps.flatMap((app) => app.grants);
      const subjects = grants
        .filter((grant) => grant.sessionId === sessionId)
        .map(({ sid }) => `sid:${sid}`);
      await ending(subjects, () => access.endSession(memberId, sessionId));
    },
    revokeApp: (memberId: string, clientId: string) =>
      ending([`app:${memberId}/${clientId}`], () => access.revoke(memberId, clientId)),
    /**
     * Resolves when a token that is issued then is of a later second than what ended: one of the
     * same second would count as ended.
     */
    async settled(memberId: string, clientId: string): Promise<void> {
      const ends = await Promise.all([
        endedSessions.find(memberId),
        endedSubjects.find(`app:${memberId}/${clientId}`),
      ]);
      const next = (Math.floor(Math.max(...ends.map((at) => at ?? 0)) / 1_000) + 1) * 1_000;
      const waitMs = next - Date.now();
      if (waitMs > 0) await setTimeout(Math.min(waitMs, CLOCK_SKEW_MS));
    },
  };
}
