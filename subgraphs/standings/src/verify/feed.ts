// Verifies the feed: the events of each partner have consecutive positions, up to the last one.
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { type Block, lastIn } from '../store/feed.ts';

/**
 * Reports gaps in blocks that come by partner and position. `heads` are the last positions, as they
 * were before the blocks were read.
 */
export async function checkFeed(
  blocks: Iterable<Block> | AsyncIterable<Block>,
  heads: ReadonlyMap<string, number>,
  { report }: Inspection,
): Promise<void> {
  const feedOf = (partnerId: string) => `the feed of partner ${partnerId}`;
  const found = new Map<string, number>();
  for await (const block of blocks) {
    const { partnerId, first } = block;
    const last = found.get(partnerId);
    // The first ones may have been dropped.
    if (last !== undefined && first !== last + 1)
      report(feedOf(partnerId), `has no event at position ${last + 1}`);
    found.set(partnerId, lastIn(block));
  }
  for (const [partnerId, last] of found) {
    const head = heads.get(partnerId) ?? 0;
    if (last < head) report(feedOf(partnerId), `ends at position ${last}, but ${head} were given`);
  }
}
