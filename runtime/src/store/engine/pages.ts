// Walks through the rows of a range in pages.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Entry, Range, Store, Table } from './store.ts';

export const PAGE_SIZE = 500;

/** Yields the rows of a range in pages; others have their turn after each. */
export async function* pagesOf<Row extends object>(
  store: Store,
  table: Table<Row>,
  range: Omit<Range, 'limit'> = { prefix: [] },
  limit = PAGE_SIZE,
): AsyncGenerator<Entry<Row>[]> {
  for (let next: Omit<Range, 'limit'> = range; ; ) {
    const page = await store.range(table, { ...next, limit });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    next = range.reverse ? { ...range, until: last.key } : { ...range, after: last.key };
    await nextTurn();
  }
}
