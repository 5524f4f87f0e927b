// Reads activities page by page.
import { callError } from './http/response.ts';
import type { CallOptions } from './surface/operation.ts';

type Page<Activity> = {
  edges: readonly { node: Activity }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
};

/** The selection of a page, with everything that an activity has. */
const PAGE = {
  edges: {
    node: {
      activityId: true,
      partnerId: true,
      points: true,
      stays: true,
      occurredAt: true,
      membershipYear: true,
    },
  },
  pageInfo: { hasNextPage: true, endCursor: true },
} as const;

/** The most that a page can have. */
const PAGE_SIZE = 100;

export type PageOptions = CallOptions & { pageSize?: number | undefined };

/** The selection of the page after a cursor, with what is selected of each activity. */
export function pageAfter(
  after: string | undefined,
  { pageSize = PAGE_SIZE, select }: PageOptions & { select?: object | undefined },
) {
  // Cast: the type of `activities` says what the activities have.
  const node = (select ?? PAGE.edges.node) as typeof PAGE.edges.node;
  return { ...PAGE, edges: { node }, $arguments: { first: pageSize, after } } as const;
}

/**
 * Every activity, page by page. `read` gets the cursor of the page before, or undefined, and
 * resolves with null if there is no such member, which rejects with MEMBER_NOT_FOUND.
 */
export async function* eachActivity<Activity>(
  read: (after: string | undefined) => Promise<Page<Activity> | null | undefined>,
): AsyncGenerator<Activity, void, undefined> {
  let after: string | undefined;
  for (;;) {
    const page = await read(after);
    if (page == null) throw callError('MEMBER_NOT_FOUND', 'member not found', {});
    for (const { node } of page.edges) yield node;
    const { hasNextPage, endCursor } = page.pageInfo;
    if (!hasNextPage) return;
    // Otherwise the loop would never end.
    if (endCursor === null || endCursor === after)
      throw callError('UNEXPECTED_RESPONSE', 'a page has no cursor for the next one', {});
    after = endCursor;
  }
}
