// `loyalty requests`: a partner's requests, one by one or by hour, as the console shows them.
import {
  quantile,
  type RequestHour,
  type RequestRecord,
  sumOf,
  type UsageStore,
} from '@partner-loyalty/gateway';
import { Command } from 'commander';
import { digits, since, typed } from '../shell/argument.ts';
import type { Row, Shell } from '../shell/shell.ts';
import { requirePartner, withStore } from '../shell/stores.ts';

type Options = {
  requestId?: string;
  status?: number;
  code?: string;
  before?: Date;
  byHour?: boolean;
};

/** And the others of the same millisecond as the last one. */
const PRINTED = 100;

export function requestsCommand(shell: Shell): Command {
  return new Command('requests')
    .description("show a partner's requests of the last 7 days, the newest first")
    .argument('<partner>', "the partner's ID")
    .option('--request-id <id>', 'show only requests with this ID')
    .option(
      '--status <status>',
      'show only requests with this HTTP status',
      typed('--status', digits(100, 599)),
    )
    .option('--code <code>', 'show only requests with this error code')
    .option(
      '--before <time>',
      'show only earlier ones: such as 12h or 7d ago, or an ISO 8601 time',
      typed('--before', since),
    )
    .option('--by-hour', 'show what was counted in each hour, in UTC, instead of requests')
    .action((partnerId: string, options: Options) => requests(shell, partnerId, options));
}

async function requests(shell: Shell, partnerId: string, options: Options): Promise<void> {
  const settings = shell.settings();
  await withStore('keys', settings, (keys) => requirePartner(keys, partnerId));
  await withStore('usage', settings, async (store) => {
    const hours = await store.requestHours(partnerId, new Date());
    if (!options.byHour) await printRecords(shell, store, partnerId, options);
    else if (hours.length > 0) shell.printAll(hours.toReversed().map(hourRow));
    const { requests: count, recorded } = sumOf(hours);
    if (count === 0) shell.note('no requests in the last 7 days');
    else if (count > recorded)
      shell.note(`${count - recorded} of ${count} requests in the last 7 days were only counted`);
  });
}

async function printRecords(
  shell: Shell,
  store: UsageStore,
  partnerId: string,
  { before, code, ...search }: Options,
): Promise<void> {
  const wanted = { ...search, code: code?.toUpperCase(), before: before?.getTime() };
  const { records, hasMore } = await store.requests(partnerId, wanted, PRINTED, new Date());
  const last = records.at(-1);
  if (last === undefined) return shell.note('no such request is recorded');
  shell.printAll(records.map(recordRow));
  if (hasMore) shell.note(`earlier ones: --before ${new Date(last.time).toISOString()}`);
}

function recordRow({ time, requestId, operation, keyId, clientId, ...record }: RequestRecord): Row {
  const { status, codes, cost, durationMs } = record;
  const at = new Date(time);
  return { time: at, requestId, operation, status, codes, cost, durationMs, keyId, clientId };
}

function hourRow(of: RequestHour): Row {
  const { latency: _, budget, ...counts } = of;
  const [p50Ms, p99Ms] = [rounded(quantile(of, 0.5)), rounded(quantile(of, 0.99))];
  return { ...counts, budget: rounded(budget), p50Ms, p99Ms };
}

function rounded(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Number(value.toPrecision(2));
}
