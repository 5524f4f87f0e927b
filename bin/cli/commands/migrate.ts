// `loyalty migrate`: brings the stores to the formats of this version.
import { KEYS_MIGRATION } from '@partner-loyalty/gateway';
import { migrateStore, type StoreMigration } from '@partner-loyalty/runtime/store/migrate.open.ts';
import type { StoreName } from '@partner-loyalty/runtime/store/private.ts';
import { Command } from 'commander';
import type { Row, Shell } from '../shell/shell.ts';

/** Each store; on the embedded engine, opening a store migrates it too. */
const MIGRATIONS: Record<StoreName, StoreMigration> = {
  members: {},
  standings: {},
  graph: {},
  usage: {},
  keys: KEYS_MIGRATION,
};
const STEP = 10_000;

export function migrateCommand(shell: Shell): Command {
  return new Command('migrate')
    .description('bring the stores to the formats of this version; may be repeated')
    .option('--dry-run', 'only say what would be done')
    .action(({ dryRun = false }: { dryRun?: boolean }) => migrate(shell, dryRun));
}

async function migrate(shell: Shell, isDryRun: boolean): Promise<void> {
  const settings = shell.settings();
  const rows: Row[] = [];
  // Cast: Object.entries forgets the names.
  for (const [store, migration] of Object.entries(MIGRATIONS) as [StoreName, StoreMigration][]) {
    const onProgress = progressOf(shell, store);
    const migrated = await migrateStore(settings, store, migration, { isDryRun, onProgress });
    if (migrated === undefined) continue;
    const { from, to, records } = migrated;
    const state = from === to ? 'current' : isDryRun ? 'to migrate' : 'migrated';
    rows.push({ store, from, to, records, state });
  }
  shell.printAll(rows);
}

/** Notes every so many records, so that a long migration is seen to go on. */
function progressOf(shell: Shell, store: StoreName): (records: number) => void {
  let noted = 0;
  return (records) => {
    if (records - noted < STEP) return;
    noted = records;
    shell.note(`${store}: ${records.toLocaleString('en')} records`);
  };
}
