// Reads activities page by page.
import { callError } from './http/answer.ts';

type Page<Activity> = {
  edges: readonly { node: Activity }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
};

/** The selection of a page, with everything that an activity has. */
export const PAGE = {
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
export const PAGE_SIZE = 100;

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
