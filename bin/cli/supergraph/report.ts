// Prints the changes that a check has found.
import { SURFACE_NAMES } from '@partner-loyalty/gateway';
import type { CheckedChange, Notice, UsedBy } from '@partner-loyalty/gateway/publish';
import type { Shell } from '../shell/shell.ts';

const MAX_MESSAGE = 120;
const MAX_USERS = 5;
const MAX_NAMED = 3;

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

/** What keeps nothing from being published; with `--json`, a line for each. */
export function printNotices(shell: Shell, notices: readonly Notice[]): void {
  if (shell.json) for (const notice of notices) shell.write(`${JSON.stringify(notice)}\n`);
  else if (notices.length > 0) shell.printAll([...notices]);
}

/** `Query.a (acme 120 times, members 3 times), Query.b (…)` */
export function namesWithUse(changes: readonly CheckedChange[]): string {
  const named = changes
    .slice(0, MAX_NAMED)
    .map(({ coordinate, usedBy }) =>
      usedBy.length === 0 ? coordinate : `${coordinate} (${users(usedBy)})`,
    );
  const rest = changes.length - MAX_NAMED;
  return named.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

export function countLevels(changes: readonly CheckedChange[]) {
  const count = (level: CheckedChange['level']) =>
    changes.filter((change) => change.level === level).length;
  return { breaking: count('breaking'), dangerous: count('dangerous'), safe: count('safe') };
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

function users(usedBy: readonly UsedBy[]): string {
  const shown = usedBy.slice(0, MAX_USERS).map(({ partnerId, count }) => {
    const times = count === 1 ? 'once' : `${count.toLocaleString('en')} times`;
    return `${partnerId ?? 'members'} ${times}`;
  });
  const rest = usedBy.length - MAX_USERS;
  return shown.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** Descriptions in a schema can be long and contain anything. */
export function printable(text: string): string {
  const harmless = text.replace(/[\p{C}\s]+/gu, ' ').trim();
  return harmless.length > MAX_MESSAGE ? `${harmless.slice(0, MAX_MESSAGE)}…` : harmless;
}
