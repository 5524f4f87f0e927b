// Pages of events as the API has them.
import { connectionOf, noCursor, pageLength } from '@partner-loyalty/runtime/cursor.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { decodeEventCursor, encodeEventCursor } from '../rules/cursor.ts';
import type { QueryEventsArgs } from '../schema.generated.ts';
import type { Feed } from '../store/feed.ts';

const DEFAULT_FIRST = 100;
const MAX_FIRST = 500;

/** Reads pages of a partner's events. It is synchronous if the store is. */
export function createEventPages(feed: Pick<Feed, 'page'>) {
  return function eventsOf(partnerId: string, { first, after, types }: QueryEventsArgs) {
    const size = pageLength(first, DEFAULT_FIRST, MAX_FIRST);
    const position =
      after == null ? undefined : (decodeEventCursor(after, partnerId) ?? noCursor());
    const wanted = types == null ? undefined : new Set(types);
    const page = feed.page(partnerId, { after: position, first: size, types: wanted });
    return mapMaybe(page, (found) => {
      if (found === 'unknown') return noCursor();
      if (found === 'expired')
        return fail('BAD_USER_INPUT', 'after is older than an event that was dropped', {
          argument: 'after',
          reason: 'EXPIRED',
        });
      const edges = found.events.map(({ position, event }) => {
        return { node: event, cursor: encodeEventCursor(position, partnerId) };
      });
      return connectionOf(edges, found.hasNext, after, encodeEventCursor(found.end, partnerId));
    });
  };
}
