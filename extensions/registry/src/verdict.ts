// What keeps a change from being published, in words.
import type { LevelCounts } from '@partner-loyalty/gateway/graph/graph.ts';
import type { CheckedChange, UsedBy } from './publish/inuse.ts';
import { listed } from './publish/missing.ts';
import { refuse } from './request.ts';

const MAX_USERS = 5;
const MAX_NAMED = 3;

export function inUse(changes: readonly CheckedChange[]): CheckedChange[] {
  return changes.filter(({ usedBy }) => usedBy.length > 0);
}

/** Throws a Refusal that names the changes that break what callers use, if there are any. */
export function refuseInUse(changes: readonly CheckedChange[], reason: string): void {
  const used = inUse(changes);
  if (used.length > 0) refuse(`${reason}: ${namesWithUse(used)}`);
}

export function refuseBrokenPolicy(faults: readonly string[], advice: string): void {
  if (faults.length > 0)
    refuse(`the deprecation policy forbids it${advice}: ${listed(faults, MAX_NAMED)}`);
}

/** `Query.a (acme 120 times, members 3 times), Query.b (…)` */
export function namesWithUse(changes: readonly CheckedChange[]): string {
  const names = changes.map(({ coordinate, usedBy }) =>
    usedBy.length === 0 ? coordinate : `${coordinate} (${users(usedBy)})`,
  );
  return listed(names, MAX_NAMED);
}

export function users(usedBy: readonly UsedBy[]): string {
  const names = usedBy.map(({ partnerId, count }) => {
    const times = count === 1 ? 'once' : `${count.toLocaleString('en')} times`;
    return `${partnerId ?? 'members'} ${times}`;
  });
  return listed(names, MAX_USERS);
}

export function countLevels(changes: readonly Pick<CheckedChange, 'level'>[]): LevelCounts {
  const count = (level: CheckedChange['level']) =>
    changes.filter((change) => change.level === level).length;
  return { breaking: count('breaking'), dangerous: count('dangerous'), safe: count('safe') };
}
