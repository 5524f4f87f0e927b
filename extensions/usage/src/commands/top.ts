// `loyalty partners top`: the partners with the most requests, to look at first in an incident.
import { ShellCommand, since } from '@partner-loyalty/cli/shell/argument.ts';
import { CommandError, type Row, type Shell } from '@partner-loyalty/cli/shell/shell.ts';
import { readStore } from '@partner-loyalty/cli/shell/stores.ts';
import { hourOf, quantile, sumOf } from '@partner-loyalty/gateway/usage/requests.ts';
import type { KeyUse } from '@partner-loyalty/gateway/usage/usage.ts';
import { timeText } from '@partner-loyalty/runtime/time.ts';
import { HOUR_MS, KEPT_HOURS } from '../records.ts';
import { readUsage } from './usage.ts';

const DEFAULT_HOURS = 24;
const SHOWN_PARTNERS = 20;

export function topCommand(shell: Shell) {
  return new ShellCommand('top')
    .description('list the partners with the most requests, and the busiest key of each')
    .value(
      '--since <time>',
      'such as 2h ago, or an ISO 8601 time; by full hours, 24h by default',
      since,
    )
    .action((options: { since?: Date }) => top(shell, options.since));
}

async function top(shell: Shell, since = hoursAgo(DEFAULT_HOURS)): Promise<void> {
  const oldest = hoursAgo(KEPT_HOURS);
  // Hours count whole, and `48h` was some milliseconds ago.
  oldest.setUTCMinutes(0, 0, 0);
  if (since < oldest)
    throw new CommandError(`--since must be in the last ${KEPT_HOURS} hours, which are kept`);
  const settings = shell.settings();
  const uses = await readUsage(settings, (usage) => usage.keyUsesSince(since));
  const keys = await readStore('keys', settings, (store) =>
    Promise.all(uses.map(({ keyId }) => store.key(keyId))),
  );
  const byPartner = new Map<string, KeyUse[]>();
  uses.forEach((use, index) => {
    const { partnerId } = keys[index] ?? {};
    if (partnerId === undefined) return;
    byPartner.set(partnerId, [...(byPartner.get(partnerId) ?? []), use]);
  });
  const rows = Array.from(byPartner, ([partnerId, ofPartner]) => rowOf(partnerId, ofPartner))
    .sort((a, b) => b.requests - a.requests)
    .slice(0, SHOWN_PARTNERS);
  if (rows.length === 0) return shell.note(`no requests since ${timeText(since)}`);
  const recorded = await readUsage(settings, (usage) =>
    Promise.all(rows.map(({ partnerId }) => usage.requestHours(partnerId, new Date()))),
  );
  const sums = recorded.map((hours) => sumOf(hours.filter(({ hour }) => hour >= hourOf(since))));
  shell.printAll(rows.map((row, place) => ({ ...row, ...latencyOf(sums[place]) })));
}

function hoursAgo(hours: number): Date {
  return new Date(Date.now() - hours * HOUR_MS);
}

/** Undefined if none of the requests is recorded. */
function latencyOf(sum: ReturnType<typeof sumOf> | undefined): Row {
  if (!sum?.counts.requests) return { partial: undefined, p50: undefined, p99: undefined };
  const rounded = (part: number) => Number(quantile(sum, part).toPrecision(2));
  return { partial: sum.counts.partial ?? 0, p50: rounded(0.5), p99: rounded(0.99) };
}

function rowOf(partnerId: string, uses: readonly KeyUse[]) {
  const sum = (name: 'requests' | 'refusals' | 'errors') =>
    uses.reduce((total, use) => total + use[name], 0);
  const busiest = uses.reduce((most, use) => (use.requests > most.requests ? use : most));
  return {
    partnerId,
    requests: sum('requests'),
    refusals: sum('refusals'),
    errors: sum('errors'),
    keys: uses.length,
    busiestKey: busiest.keyId,
    keyRequests: busiest.requests,
  };
}
