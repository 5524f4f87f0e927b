// Reads connections page by page.
import { callError } from './http/response.ts';
import type { CallOptions } from './surface/operation.ts';

/** Everything that an activity has. */
const ACTIVITY = {
  activityId: true,
  partnerId: true,
  points: true,
  stays: true,
  occurredAt: true,
  membershipYear: true,
} as const;

/** The most that a page can have. */
const PAGE_SIZE = 100;

export type PageOptions = CallOptions & { pageSize?: number | undefined };

/**
 * Returns a method that yields every activity of a member, page by page. `read` reads one page, and
 * resolves with null if there is no such member, which rejects with MEMBER_NOT_FOUND.
 */
export function eachActivity<Activity>(
  read: (
    memberId: string,
    activities: {
      edges: { node: typeof ACTIVITY };
      pageInfo: typeof PAGE_INFO;
      $arguments: { first: number; after: string | undefined };
    },
    call: CallOptions,
  ) => Promise<Page<{ node: Activity }> | null | undefined>,
) {
  return async function* activities(
    memberId: string,
    { pageSize = PAGE_SIZE, select = ACTIVITY, ...call }: PageOptions & { select?: object } = {},
  ): AsyncGenerator<Activity, void, undefined> {
    // Cast: the type of the client's `activities` says what the activities have.
    const selected = { edges: { node: select as typeof ACTIVITY }, pageInfo: PAGE_INFO };
    const edges = eachEdge(async (after) => {
      const $arguments = { first: pageSize, after };
      const page = await read(memberId, { ...selected, $arguments }, call);
      if (page == null) throw callError('MEMBER_NOT_FOUND', 'member not found', {});
      return page;
    });
    for await (const { node } of edges) yield node;
  };
}

export type Page<Edge> = {
  edges: readonly Edge[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
};

export const PAGE_INFO = { hasNextPage: true, endCursor: true } as const;

/** Yields every edge after a cursor. `read` reads one page, when it is needed. */
export async function* eachEdge<Edge>(
  read: (after: string | undefined) => Promise<Page<Edge>>,
  start?: string,
): AsyncGenerator<Edge, void, undefined> {
  let after = start;
  for (;;) {
    const { edges, pageInfo } = await read(after);
    yield* edges;
    const { hasNextPage, endCursor } = pageInfo;
    if (!hasNextPage) return;
    // Otherwise the loop would never end.
    if (endCursor === null || endCursor === after) throw noCursor();
    after = endCursor;
  }
}

export function noCursor() {
  return callError('UNEXPECTED_RESPONSE', 'a page has no cursor for the next one', {});
}
