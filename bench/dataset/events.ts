// Events in the feeds of partners.
import { randomUUID } from 'node:crypto';
import type { StandingsStore } from '@partner-loyalty/standings';

/** Appends so many events to the feed of each partner, each of another member. */
export async function appendEvents(
  { leases, append }: StandingsStore['feed'],
  partnerIds: readonly string[],
  each: number,
): Promise<void> {
  const at = Date.now();
  const token = randomUUID();
  await leases.put({ name: 'sequencer', token, until: at + 60_000 });
  const events = partnerIds.flatMap((partnerId) =>
    Array.from({ length: each }, () => {
      const of = { partnerId, memberId: `m-${randomUUID()}`, occurredAt: at };
      return { id: randomUUID(), type: 'MEMBER_UPDATED' as const, ...of };
    }),
  );
  const members = { events, until: Number.POSITIVE_INFINITY };
  await append({ token, members, ownUntil: at, at });
}
