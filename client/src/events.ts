// Reads the feed of events page by page.
import { callError } from './http/response.ts';
import type { CallOptions } from './surface/operation.ts';

type Page<Event> = {
  edges: readonly { node: Event; cursor: string }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
};

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
        pageInfo: { hasNextPage: true; endCursor: true };
      };
    },
  ) => Promise<Page<Event> | null>,
) {
  return function events({
    after,
    types,
    pageSize = PAGE_SIZE,
    select = EVENT,
    ...call
  }: EventsOptions<Type> & { select?: object } = {}): EventIterator<Event> {
    let cursor = after;
    // Cast: the type of the client's `events` says what the events have.
    const edges = { node: select as typeof EVENT, cursor: true } as const;
    const options = { ...call, select: { edges, pageInfo: PAGE_INFO } };

    async function* iterate(): AsyncGenerator<Event, void, undefined> {
      for (;;) {
        const page = await read({ first: pageSize, after: cursor, types }, options);
        // Otherwise the loop would never end.
        if (page?.pageInfo.endCursor == null)
          throw callError('UNEXPECTED_RESPONSE', 'a page has no cursor for the next one', {});
        for (const edge of page.edges) {
          cursor = edge.cursor;
          yield edge.node;
        }
        cursor = page.pageInfo.endCursor;
        if (!page.pageInfo.hasNextPage) return;
      }
    }
    return Object.defineProperty(iterate(), 'cursor', {
      get: () => cursor,
    }) as EventIterator<Event>; // Cast: it has the property now.
  };
}

const PAGE_INFO = { hasNextPage: true, endCursor: true } as const;
