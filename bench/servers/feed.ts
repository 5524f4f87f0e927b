// Fills a feed of events of each size, and prints the times of reading pages anywhere in them.
import { openStandingsStore } from '@partner-loyalty/standings';
import { appendEvents } from '../dataset/events.ts';
import type { StoreSettings } from '../dataset/stores.ts';
import { spread } from '../report/outcome.ts';

export type FeedOptions = { settings: StoreSettings; size: number }[];
/** Milliseconds of a page, by size and round. */
export type FeedTimes = number[][];

const PARTNER = 'bench';
const [BATCH, ROUNDS, PAGES, FIRST] = [5_000, 5, 100, 100];

// Cast: parts/growth.ts writes the options.
const options = JSON.parse(process.argv[2] ?? '') as FeedOptions;
const stores = await Promise.all(options.map(({ settings }) => openStandingsStore(settings)));
for (const [index, { feed }] of stores.entries()) {
  const size = options[index]?.size ?? 0;
  while ((await feed.last(PARTNER)) < size) await appendEvents(feed, [PARTNER], BATCH);
}
const times: FeedTimes = stores.map(() => []);
for (let round = 0; round < ROUNDS; round += 1) {
  const ofRound: number[][] = stores.map(() => []);
  for (let page = 0; page < PAGES; page += 1)
    for (const [index, { feed }] of stores.entries()) {
      const after = Math.floor(Math.random() * ((options[index]?.size ?? 0) - FIRST));
      const startedAt = performance.now();
      const found = await feed.page(PARTNER, { after, first: FIRST, types: undefined });
      ofRound[index]?.push(performance.now() - startedAt);
      if (typeof found === 'string' || found.events.length !== FIRST)
        throw new Error('a wrong page');
    }
  for (const [index, ofStore] of ofRound.entries()) times[index]?.push(spread(ofStore).median);
}
for (const { close } of stores) await close();
console.log(`RESULT ${JSON.stringify(times)}`);
