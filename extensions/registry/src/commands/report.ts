// Prints the changes that a check has found.

import type { Shell } from '@partner-loyalty/cli/shell/shell.ts';
import { SURFACE_NAMES } from '@partner-loyalty/gateway';
import { countLevels, users } from '../change.ts';
import type { CheckedChange } from '../publish/inuse.ts';

const MAX_MESSAGE = 120;

/** A table for each surface; with `--json`, a line for each change. */
export function printChanges(shell: Shell, changes: readonly CheckedChange[]): void {
  if (shell.json) {
    for (const change of changes) shell.write(`${JSON.stringify(change)}\n`);
    return;
  }
  for (const surface of SURFACE_NAMES) {
    const found = changes.filter((change) => change.surface === surface);
    shell.write(`${surface} surface: ${found.length === 0 ? 'no changes' : summary(found)}\n`);
    if (found.length > 0) shell.printAll(found.map(toRow));
    shell.write('\n');
  }
}

function summary(changes: readonly CheckedChange[]): string {
  return Object.entries(countLevels(changes))
    .filter(([, count]) => count > 0)
    .map(([level, count]) => `${count} ${level}`)
    .join(', ');
}

function toRow({ level, coordinate, message, usedBy }: CheckedChange) {
  return {
    level,
    coordinate,
    change: printable(message),
    'used in 30 days by': usedBy.length === 0 ? undefined : users(usedBy),
  };
}

/** Descriptions in a schema can be long and contain anything. */
export function printable(text: string): string {
  const harmless = text.replace(/[\p{C}\s]+/gu, ' ').trim();
  return harmless.length > MAX_MESSAGE ? `${harmless.slice(0, MAX_MESSAGE)}…` : harmless;
}
