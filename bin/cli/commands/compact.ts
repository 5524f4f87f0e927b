// `loyalty compact`: clears what was deleted from the files of the embedded stores.
import { setTimeout as pause } from 'node:timers/promises';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import {
  AlreadyCompacting,
  compactStores,
} from '@partner-loyalty/runtime/store/generations/compact.lmdb.ts';
import { Command } from 'commander';
import { CommandError, type Shell } from '../shell/shell.ts';

const RETRY_MS = 200;

export function compactCommand(shell: Shell): Command {
  return new Command('compact')
    .description('clear what was deleted from the files of the embedded stores; may be repeated')
    .action(() => compact(shell));
}

async function compact(shell: Shell): Promise<void> {
  const { mongodbUrl, dataDir, environment } = shell.settings();
  if (mongodbUrl !== undefined)
    throw new CommandError(
      'the stores are on MongoDB: compact is for the embedded store (docs/operator.md)',
    );
  shell.printAll(await compactStores(dataDir, environment));
}

/** Compacts the embedded stores, after another process that is at it: its copy may be older. */
export async function compactNext({ dataDir, environment }: Settings): Promise<void> {
  for (;;) {
    try {
      await compactStores(dataDir, environment);
      return;
    } catch (error) {
      if (!(error instanceof AlreadyCompacting)) throw error;
    }
    await pause(RETRY_MS);
  }
}
