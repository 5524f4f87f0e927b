// `loyalty usage`: what callers asked for, and how often.
import { digits, ShellCommand } from '@partner-loyalty/cli/shell/argument.ts';
import type { Row, Shell } from '@partner-loyalty/cli/shell/shell.ts';
import { hasStore } from '@partner-loyalty/cli/shell/stores.ts';
import { dayOf } from '@partner-loyalty/gateway/schema/dates.ts';
import {
  type FieldUsage,
  NO_USAGE,
  type OperationUsage,
  type UsageCounts,
} from '@partner-loyalty/gateway/usage/usage.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import * as z from 'zod';
import { firstDay, KEPT_DAYS } from '../records.ts';
import { openUsageStore } from '../tables.ts';

type Options = { partner?: string; field?: string; days: number; operations?: boolean };
type Usage = FieldUsage | OperationUsage;

const DAYS = 30;

export function usageCommand(shell: Shell) {
  return new ShellCommand('usage')
    .description('show which fields and arguments callers use, the most used first')
    .option('--partner <id>', 'show only one partner')
    .value(
      '--field <coordinate>',
      'show only one field, as Type.field, with its arguments',
      coordinate,
    )
    .option('--operations', 'show operations instead of fields')
    .value('--days <days>', 'how many days to cover, today included', days, DAYS)
    .action((options: Options) => usage(shell, options));
}

const days = digits(1, KEPT_DAYS);
const coordinate = z
  .string()
  .regex(/^[_A-Za-z]\w*\.[_A-Za-z]\w*$/, 'must be a field, such as Query.memberByEmail');

async function usage(shell: Shell, { partner, field, operations, ...options }: Options) {
  const since = firstDay(dayOf(Date.now()), options.days);
  const found: Usage[] = await readUsage(shell.settings(), async (store) =>
    operations ? store.operations(since) : store.fields(since),
  );
  const isWanted = (each: Usage) =>
    (partner === undefined || each.partnerId === partner) &&
    (field === undefined || concerns(each, field));
  const rows = summed(found.filter(isWanted));
  if (rows.length === 0) shell.note(`no usage in the last ${options.days} days`);
  else shell.printAll(rows);
}

function concerns(usage: Usage, field: string): boolean {
  const name = 'coordinate' in usage ? usage.coordinate : '';
  return name === field || name.startsWith(`${field}(`);
}

/** All days together, the most used first. */
function summed(usage: readonly Usage[]): Row[] {
  const rows = new Map<string, Row & { count: number }>();
  for (const { surface, partnerId, count, ...what } of usage) {
    const name = 'coordinate' in what ? { field: what.coordinate } : { operation: what.operation };
    const key = JSON.stringify([surface, partnerId, name]);
    const row = rows.get(key);
    if (row === undefined) rows.set(key, { surface, partnerId, count, ...name });
    else row.count += count;
  }
  return [...rows.values()].sort((a, b) => b.count - a.count);
}

/** Lends the counts to `work`, empty ones if there is no store: it is not created. */
export async function readUsage<T>(
  settings: Settings,
  work: (usage: UsageCounts) => Promise<T>,
): Promise<T> {
  if (!hasStore('usage', settings)) return work(NO_USAGE.usageStore);
  const store = await openUsageStore(settings);
  return work(store).finally(store.close);
}
