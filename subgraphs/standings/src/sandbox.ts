// What a sandbox subtracts from a standing to show it as of an earlier time.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { createPlaces } from '@partner-loyalty/runtime/eventloop/places.ts';
import type { SubgraphContext } from '@partner-loyalty/runtime/subgraph/types.ts';
import type { GainedLater } from './reading.ts';
import type { Before } from './store/member.ts';
import type { StandingsStore } from './store/store.ts';

/**
 * Each further page is twice as long, up to what holds the process for some milliseconds. One is
 * read at a time, each in a turn of its own.
 */
const [FIRST_PAGE, LONGEST_PAGE] = [50, 500];
/** The maximum of a fetch, so of a field that leads to members. */
const MAX_ACTIVITIES = 2_000;

/** Rejects with BAD_USER_INPUT if a fetch needs more than 2,000 activities. */
export function createGainedLater(store: Pick<StandingsStore, 'latestActivities'>): GainedLater {
  const read = new WeakMap<SubgraphContext, number>();
  const place = createPlaces({ places: 1 });

  function count(context: SubgraphContext, activities: number): void {
    const sum = (read.get(context) ?? 0) + activities;
    read.set(context, sum);
    if (sum > MAX_ACTIVITIES)
      fail('BAD_USER_INPUT', `more than ${MAX_ACTIVITIES} activities are later than x-sandbox-now`);
  }

  return async ({ partnerId, memberId, since, until }, context) => {
    const gained = { points: 0, stays: 0 };
    let before: Before = { occurredAtMs: until.getTime() };
    async function latest(size: number) {
      // Whatever fields beside this one have read.
      count(context, 0);
      const page = await store.latestActivities(partnerId, memberId, size, before);
      const later = page.filter(({ occurredAt }) => occurredAt > since);
      count(context, later.length);
      return later;
    }
    for (let size = FIRST_PAGE; ; size = Math.min(2 * size, LONGEST_PAGE)) {
      const leave = await place();
      const later = await latest(size).finally(leave);
      for (const { points, stays } of later) {
        gained.points += points;
        gained.stays += stays;
      }
      const last = later.at(-1);
      if (last === undefined || later.length < size) return gained;
      before = { occurredAtMs: last.occurredAt.getTime(), activityId: last.activityId };
    }
  };
}
