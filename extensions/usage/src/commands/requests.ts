// `loyalty requests`: what is recorded of a partner's requests, as the console shows it.
import { digits, ShellCommand, shortMs, since } from '@partner-loyalty/cli/shell/argument.ts';
import type { Row, Shell } from '@partner-loyalty/cli/shell/shell.ts';
import { readStore, requirePartner } from '@partner-loyalty/cli/shell/stores.ts';
import {
  type RequestRecord,
  sumOf,
  unrecordedIn,
} from '@partner-loyalty/gateway/usage/requests.ts';
import { readUsage } from './usage.ts';

type Options = {
  requestId?: string;
  key?: string;
  status?: number;
  code?: string;
  slowerThan?: number;
  before?: Date;
};

/** And those of the same millisecond as the last one. */
const PRINTED = 100;

export function requestsCommand(shell: Shell) {
  return new ShellCommand('requests')
    .description("show a partner's requests of the last 7 days, the newest first")
    .argument('<partner>', "the partner's ID")
    .option('--request-id <id>', 'show only requests with this ID')
    .value('--status <status>', 'show only requests with this HTTP status', digits(100, 599))
    .option('--key <keyid>', 'show only requests with this key')
    .option('--code <code>', 'show only requests with this error code')
    .value(
      '--slower-than <duration>',
      'show only requests that took longer, such as 500ms',
      shortMs,
    )
    .value(
      '--before <time>',
      'show only earlier ones: than 12h or 7d ago, or than an ISO 8601 time',
      since,
    )
    .action((partnerId: string, options: Options) => requests(shell, partnerId, options));
}

async function requests(shell: Shell, partnerId: string, options: Options): Promise<void> {
  const [settings, now] = [shell.settings(), new Date()];
  const { requestId, key, status, code, slowerThan, before } = options;
  const wanted = {
    requestId,
    keyId: key,
    statuses: status === undefined ? undefined : ([status, status] as const),
    code: code?.toUpperCase(),
    slowerThanMs: slowerThan,
    before: before?.getTime(),
  };
  await readStore('keys', settings, (keys) => requirePartner(keys, partnerId));
  const [{ records, hasMore }, hours] = await readUsage(settings, (store) =>
    Promise.all([
      store.requests(partnerId, wanted, PRINTED, now),
      store.requestHours(partnerId, now),
    ]),
  );
  if (records.length === 0) shell.note('no such request is recorded');
  else shell.printAll(records.map(rowOf));
  const last = records.at(-1);
  if (hasMore && last) shell.note(`earlier ones: --before ${new Date(last.time).toISOString()}`);
  const sum = sumOf(hours);
  const [missing, { requests: all = 0 }] = [unrecordedIn(sum), sum.counts];
  if (missing > 0) shell.note(`${missing} of ${all} requests in the last 7 days were only counted`);
}

function rowOf({ time, requestId, operation, status, codes, ...record }: RequestRecord): Row {
  return { time: new Date(time), requestId, operation, status, codes, ...record };
}
