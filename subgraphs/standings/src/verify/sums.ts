// What standings and the feed should have: sums of activities, and events in order.
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import type { Standing } from '../rules/standing.ts';
import { type Block, lastIn } from '../store/feed.ts';

/** What one activity adds to. */
export type Earned = Standing & { memberId: string; partnerId: string; year: string };

/** The sums of one member with one partner, by membership year. */
export type Group = { memberId: string; partnerId: string; years: Map<string, Standing> };

/** Groups activities that come ordered by member and partner, within bounded memory. */
export async function* groupsOf(
  activities: AsyncIterable<Earned> | Iterable<Earned>,
): AsyncGenerator<Group> {
  let group: Group | undefined;
  for await (const { memberId, partnerId, year, points, stays } of activities) {
    if (group?.memberId !== memberId || group.partnerId !== partnerId) {
      if (group !== undefined) yield group;
      group = { memberId, partnerId, years: new Map() };
    }
    const sum = group.years.get(year) ?? { points: 0, stays: 0 };
    group.years.set(year, { points: sum.points + points, stays: sum.stays + stays });
  }
  if (group !== undefined) yield group;
}

/** Why a standing is not what its activities add up to; undefined if it is. */
export function problemOf(expected: Standing, found: Standing | undefined): string | undefined {
  if (found === undefined) return 'has activities, but no sums';
  if (found.points === expected.points && found.stays === expected.stays) return undefined;
  return (
    `has ${found.points} points and ${found.stays} stays, ` +
    `but its activities add up to ${expected.points} and ${expected.stays}`
  );
}

/** Reports a fault of a standing under the name of its member. */
export function reportStanding(
  { report }: Inspection,
  { memberId, partnerId }: { memberId: string; partnerId: string },
  year: string,
  problem: string,
): void {
  report(`member ${memberId}`, `the standing with partner ${partnerId} in ${year} ${problem}`);
}

/** Reports a partner that does not exist. */
export async function checkPartner(
  { report, hasPartner }: Inspection,
  { memberId, partnerId }: { memberId: string; partnerId: string },
): Promise<void> {
  if (!(await hasPartner(partnerId)))
    report(`member ${memberId}`, `an activity is with partner ${partnerId}, which does not exist`);
}

/**
 * Reports gaps in blocks that come by partner and position. `heads` are the last positions, as they
 * were before the blocks were read.
 */
export async function checkFeed(
  blocks: Iterable<Block> | AsyncIterable<Block>,
  heads: ReadonlyMap<string, number>,
  { report }: Inspection,
): Promise<void> {
  const feedOf = (partnerId: string) => `the feed of partner ${partnerId}`;
  const found = new Map<string, number>();
  for await (const block of blocks) {
    const { partnerId, first } = block;
    const last = found.get(partnerId);
    // The first ones may have been dropped.
    if (last !== undefined && first !== last + 1)
      report(feedOf(partnerId), `has no event at position ${last + 1}`);
    found.set(partnerId, lastIn(block));
  }
  for (const [partnerId, last] of found) {
    const head = heads.get(partnerId) ?? 0;
    if (last < head) report(feedOf(partnerId), `ends at position ${last}, but ${head} were given`);
  }
}
