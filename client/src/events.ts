// Reads the feed of events page by page.
import { eachEdge, noCursor, PAGE_INFO, type Page } from './activities.ts';
import type { CallOptions } from './surface/operation.ts';

/** Everything that an event has, but for the member. */
const EVENT = {
  id: true,
  type: true,
  occurredAt: true,
  memberId: true,
  externalId: true,
  mergedMemberId: true,
  tierBefore: true,
  tierAfter: true,
  points: true,
  activityId: true,
} as const;

/** The most that a page can have. */
const PAGE_SIZE = 500;

export type EventsOptions<Type> = CallOptions & {
  /** The cursor of an earlier iteration, which this one goes on from. */
  after?: string | undefined;
  types?: readonly Type[] | undefined;
  pageSize?: number | undefined;
};

/** Events, oldest first, up to the last one of the moment. */
export type EventIterator<Event> = AsyncGenerator<Event, void, undefined> & {
  /** Where to go on: after the event that was yielded last or, at the end, after all of them. */
  readonly cursor: string | undefined;
};

/** Returns a method that yields events. `read` reads one page. */
export function eachEvent<Event, Type>(
  read: (
    page: { first: number; after: string | undefined; types: readonly Type[] | undefined },
    call: CallOptions & {
      select: {
        edges: { node: typeof EVENT; cursor: true };
        pageInfo: typeof PAGE_INFO;
      };
    },
  ) => Promise<Page<{ node: Event; cursor: string }> | null>,
) {
  return function events({
    after,
    types,
    pageSize = PAGE_SIZE,
    select = EVENT,
    ...call
  }: EventsOptions<Type> & { select?: object } = {}): EventIterator<Event> {
    let cursor = after;
    let end: string | undefined;
    // Cast: the type of the client's `events` says what the events have.
    const edges = { node: select as typeof EVENT, cursor: true } as const;
    const options = { ...call, select: { edges, pageInfo: PAGE_INFO } };

    async function* iterate(): AsyncGenerator<Event, void, undefined> {
      const all = eachEdge(async (from) => {
        cursor = from;
        const page = await read({ first: pageSize, after: from, types }, options);
        end = page?.pageInfo.endCursor ?? undefined;
        if (page === null || end === undefined) throw noCursor();
        return page;
      }, after);
      for await (const edge of all) {
        cursor = edge.cursor;
        yield edge.node;
      }
      cursor = end;
    }
    return Object.defineProperty(iterate(), 'cursor', {
      get: () => cursor,
    }) as EventIterator<Event>; // Cast: it has the property now.
  };
}
