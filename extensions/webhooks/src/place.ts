// Where a feed is at a time, and the events from a place on.
import type { EventPage, Feed } from '@partner-loyalty/standings/store/feed.ts';

type Pages = Pick<Feed, 'page' | 'last'>;

/** How far events of a feed may be from the order of their times. */
const MARGIN_MS = 60_000;
/** An event of an ended year may come long after it, but not ten of them together. */
const SAMPLE = 10;

/**
 * A position after which come all events that occurred at `at` or later and are kept. Those that
 * are out of order by more than a minute may come before it.
 */
export async function positionBefore(feed: Pages, partnerId: string, at: number): Promise<number> {
  let [low, high] = [0, await feed.last(partnerId)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { events } = (await pageOf(feed, partnerId, middle, SAMPLE)) ?? { events: [] };
    const latest = Math.max(...events.map(({ event }) => event.occurredAt));
    // Without events: they were dropped meanwhile.
    if (latest < at - MARGIN_MS) low = Math.min(high, middle + Math.max(events.length, 1));
    else high = middle;
  }
  for (;;) {
    const page = await pageOf(feed, partnerId, low, 500);
    if (page === undefined) return low;
    const first = page.events.find(({ event }) => event.occurredAt >= at);
    if (first !== undefined) return first.position - 1;
    if (!page.hasNext) return page.end;
    low = page.end;
  }
}

/**
 * Reads the event at a position and those after it now, so that they have what an erasure has left.
 * Resolves with none if it was dropped.
 */
export async function eventsFrom(
  feed: Pick<Feed, 'page'>,
  partnerId: string,
  position: number,
  first: number,
): Promise<EventPage['events']> {
  const page = await feed.page(partnerId, { after: position - 1, first, types: undefined });
  if (page === 'expired') return [];
  const events = page === 'unknown' ? [] : page.events;
  if (events[0]?.position !== position) throw new Error('the feed lacks an event that it had');
  return events;
}

/** Undefined if events after the position were dropped. */
async function pageOf(feed: Pages, partnerId: string, after: number, first: number) {
  const page = await feed.page(partnerId, { after, first, types: undefined });
  return typeof page === 'string' ? undefined : page;
}
