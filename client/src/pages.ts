// Reads lists page by page.
import { callError } from './http/response.ts';

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
    if (endCursor === null || endCursor === after)
      throw callError('UNEXPECTED_RESPONSE', 'a page has no cursor for the next one', {});
    after = endCursor;
  }
}
