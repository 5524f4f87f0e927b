// `loyalty backup`: copies the embedded stores while they are in use.
import { backupStores } from '@partner-loyalty/runtime/store/backup.lmdb.ts';
import { Command } from 'commander';
import { CommandError, type Shell } from '../shell/shell.ts';

export function backupCommand(shell: Shell): Command {
  return new Command('backup')
    .description('copy the embedded stores while they are in use')
    .argument('<dir>', 'a folder that is empty or does not exist; it can then serve as DATA_DIR')
    .action((dir: string) => backup(shell, dir));
}

async function backup(shell: Shell, dir: string): Promise<void> {
  const { mongodbUrl, dataDir, environment } = shell.settings();
  if (mongodbUrl !== undefined)
    throw new CommandError(
      'the stores are on MongoDB: back its database up with mongodump (docs/operators/backup.md)',
    );
  shell.printAll(await backupStores(dataDir, environment, dir));
}
