// `loyalty backup` and `compact`: the files of the embedded stores, copied and cleared.
import { backupStores } from '@partner-loyalty/runtime/store/backup.lmdb.ts';
import {
  type RewriteProgress,
  type Rewritten,
  rewriteErased,
  rewriteStores,
} from '@partner-loyalty/runtime/store/rewrite.lmdb.ts';
import { Command } from 'commander';
import { CommandError, type Shell } from '../shell/shell.ts';

const NOTE_MS = 5_000;

export function compactCommand(shell: Shell): Command {
  return new Command('compact')
    .description('clear what was deleted from the embedded stores; the service must be stopped')
    .action(() => compact(shell));
}

async function compact(shell: Shell): Promise<void> {
  const { dataDir, environment } = embedded(shell, 'compact is for the embedded store');
  const rewritten = await rewriteStores(dataDir, environment, progressOf(shell));
  if (rewritten === undefined)
    throw new CommandError(
      `a service or another command uses ${dataDir}: stop it, then run compact again`,
    );
  shell.printAll(rewritten);
}

/** Clears what was erased, if no other process has a store open; undefined if one has. */
export function compactErased(shell: Shell): Promise<Rewritten[] | undefined> {
  const { dataDir, environment } = shell.settings();
  return rewriteErased(dataDir, environment, progressOf(shell));
}

/** Notes every few seconds how far it is. */
function progressOf(shell: Shell): RewriteProgress {
  let notedAt = performance.now();
  return (store, records, total) => {
    if (performance.now() - notedAt < NOTE_MS) return;
    notedAt = performance.now();
    const [done, all] = [records, total].map((count) => count.toLocaleString('en'));
    shell.note(`${store}: ${done} of ${all} records`);
  };
}

export function backupCommand(shell: Shell): Command {
  return new Command('backup')
    .description('copy the embedded stores while they are in use')
    .argument('<dir>', 'a folder that is empty or does not exist; it can then serve as DATA_DIR')
    .action((dir: string) => backup(shell, dir));
}

async function backup(shell: Shell, dir: string): Promise<void> {
  const { dataDir, environment } = embedded(shell, 'back its database up with mongodump');
  shell.printAll(await backupStores(dataDir, environment, dir));
}

/** The settings, unless the stores are on MongoDB: then it throws a CommandError. */
function embedded(shell: Shell, advice: string) {
  const settings = shell.settings();
  if (settings.mongodbUrl === undefined) return settings;
  throw new CommandError(`the stores are on MongoDB: ${advice} (docs/operators/backup.md)`);
}
