// Another process on the same standings store, for tests of concurrent processes.
import { migrateStore } from '@partner-loyalty/runtime';
import { openStandingsStore, STANDINGS_MIGRATION } from '../src/index.ts';
import { IMPORT } from './engine.ts';

const [given = '{}', action, afterMs] = process.argv.slice(2);
const settings = { ...JSON.parse(given), environment: 'sandbox' };

if (action === 'migrate-and-die') {
  const options = { isDryRun: false, onProgress: () => undefined };
  const migrating = migrateStore(settings, 'standings', STANDINGS_MIGRATION, options);
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(afterMs));
  await migrating;
  process.exit(0);
}

const store = await openStandingsStore(settings);

if (action === 'import') {
  const outcomes: string[] = [];
  for (let from = 0; from < IMPORT.length; from += 100)
    outcomes.push(...(await store.record(IMPORT.slice(from, from + 100))));
  process.stdout.write(JSON.stringify(outcomes));
  await store.close();
}

if (action === 'import-and-die') {
  await store.record(IMPORT.slice(0, 200));
  void store.record(IMPORT.slice(200, 2_500));
  // In the middle of a batch, which begins in the next tick at the latest.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(afterMs));
}
