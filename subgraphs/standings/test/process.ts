// A process that imports activities in batches until it is killed.
import { openStandingsStore } from '../src/index.ts';
import { importOf } from './engine.ts';

const [given = '{}', number] = process.argv.slice(2);
const settings = { ...JSON.parse(given), environment: 'sandbox' };

const store = await openStandingsStore(settings);

const all = importOf(Number(number));
for (let from = 0; from < all.length; from += 50) {
  await store.record(all.slice(from, from + 50));
  process.stdout.write('.');
}
setInterval(() => undefined, 1_000);
