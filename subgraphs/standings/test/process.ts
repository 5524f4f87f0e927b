// Another process on the same standings store, for tests of concurrent processes.
import { openStandingsStore } from '../src/index.ts';
import { IMPORT, importOf } from './engine.ts';

const [given = '{}', action, number] = process.argv.slice(2);
const settings = { ...JSON.parse(given), environment: 'sandbox' };

const store = await openStandingsStore(settings);

if (action === 'import') {
  const outcomes: string[] = [];
  for (let from = 0; from < IMPORT.length; from += 100)
    outcomes.push(...(await store.record(IMPORT.slice(from, from + 100))));
  process.stdout.write(JSON.stringify(outcomes));
  await store.close();
}

if (action === 'import-until-killed') {
  const all = importOf(Number(number));
  for (let from = 0; from < all.length; from += 50) {
    await store.record(all.slice(from, from + 50));
    process.stdout.write('.');
  }
  setInterval(() => undefined, 1_000);
}
