// An event as an endpoint gets it.
import type { Event } from '../rules/event.ts';
import type { Feed } from '../store/feed.ts';

/**
 * Reads the event at a position now, so that it has what an erasure has left. Resolves with
 * undefined if it was dropped.
 */
export async function eventAt(
  feed: Feed,
  partnerId: string,
  position: number,
): Promise<Event | undefined> {
  const page = await feed.page(partnerId, { after: position - 1, first: 1, types: undefined });
  if (page === 'expired') return undefined;
  const [found] = page === 'unknown' ? [] : page.events;
  if (found?.position !== position) throw new Error('the feed lacks an event that it had');
  return found.event;
}

/** The event with the fields that the API has and this event has, without `member`. */
export function messageOf({ id, type, partnerId, occurredAt, ...content }: Event) {
  const timestamp = new Date(occurredAt);
  return { id, type, timestamp, data: { id, type, occurredAt: timestamp, ...content } };
}
