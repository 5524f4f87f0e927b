// Fills a feed of events to each size, and prints the times of reading pages anywhere in it.
import { randomUUID } from 'node:crypto';
import { openStandingsStore } from '@partner-loyalty/standings';
import type { StoreSettings } from '../dataset/stores.ts';

/** Milliseconds of each page, by size. */
export type FeedTimes = number[][];

const PARTNER = 'bench';
const [BATCH, PAGES, FIRST] = [5_000, 500, 100];

// Cast: parts/growth.ts writes the options.
const [settings, sizes] = JSON.parse(process.argv[2] ?? '') as [StoreSettings, number[]];
const { feed, close } = await openStandingsStore(settings);
const lease = { name: 'sequencer', token: 'bench', until: Date.now() + 3_600_000 };
await feed.leases.put(lease);
const times: FeedTimes = [];
for (const size of sizes) {
  for (let last = await feed.last(PARTNER); last < size; last += BATCH) {
    const at = Date.now();
    const events = Array.from({ length: BATCH }, (_, index) => {
      const of = { partnerId: PARTNER, memberId: `m-${last + index}`, occurredAt: at };
      return { id: randomUUID(), type: 'MEMBER_UPDATED' as const, ...of };
    });
    const members = { events, until: Number.POSITIVE_INFINITY };
    await feed.append({ token: lease.token, members, ownUntil: at, at });
  }
  const ofSize: number[] = [];
  for (let page = 0; page < PAGES; page += 1) {
    const after = Math.floor(Math.random() * (size - FIRST));
    const startedAt = performance.now();
    const found = await feed.page(PARTNER, { after, first: FIRST, types: undefined });
    ofSize.push(performance.now() - startedAt);
    if (typeof found === 'string' || found.events.length !== FIRST) throw new Error('a wrong page');
  }
  times.push(ofSize);
}
await close();
console.log(`RESULT ${JSON.stringify(times)}`);
