// The section usage: a partner's requests, errors, budget and latency by hour.
import {
  errorsIn,
  hourOf,
  keptHours,
  quantile,
  type RequestHour,
  sumOf,
} from '@partner-loyalty/gateway/usage/requests.ts';
import type { UsageCounts } from '@partner-loyalty/gateway/usage/usage.ts';
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { barChart, type Chart, roundUp } from './chart.ts';
import {
  empty,
  shownHour,
  shownMs,
  shownNumber,
  shownPercent,
  shownShort,
  table,
} from './parts.ts';
import type { Section } from './section.ts';

export type UsageParts = { usageStore: Pick<UsageCounts, 'requestHours' | 'requests'> };

export function createUsageSection(
  { usageStore }: UsageParts,
  now: () => Date = () => new Date(),
): Section {
  return {
    name: 'usage',
    title: 'Usage',
    about: 'Requests, errors, budget and latency of the last 7 days, by hour.',
    async show({ staff }) {
      const at = now();
      const hours = await usageStore.requestHours(staff.partnerId, at);
      // An hour may have nothing but faults of the sandbox.
      const used = hours.filter(({ counts }) => counts.requests);
      if (used.length === 0) return noRequests('a minute');
      const charts = chartsOf(used).map(
        (chart) => html`<figure class="chart"><figcaption>${chart.caption}</figcaption>
${barChart({ ...chart, title: `${chart.title}. The table has the numbers.` }, keptHours(at))}</figure>`,
      );
      return html`<p class="soft">The last 7 days.</p>
${tiles(used)}
<div class="usage"><div>${charts}</div>
${hourTable(used)}</div>`;
    },
  };
}

export function noRequests(within: string): Html {
  return empty(
    'No requests in the last 7 days',
    html`Requests appear here within ${within}. <a href="/docs">Send the first one</a> with one of your
<a href="/console/keys">keys</a>.`,
  );
}

function tiles(used: readonly RequestHour[]): Html {
  const sum = sumOf(used);
  const [requests, errors] = [sum.counts.requests ?? 0, errorsIn(sum)];
  const values = [
    ['Requests', shownNumber(requests), found('', 'in 7 days')],
    [
      'With errors',
      shownNumber(errors),
      html`${shownPercent(errors / requests)} of requests: ${found('status=4xx', '4xx')}, ${found('status=5xx', '5xx')}`,
    ],
    [
      'Peak budget use',
      shownPercent(sum.budget),
      html`of one of your <a href="/console/keys">keys</a>`,
    ],
    ['Latency, p50', shownMs(quantile(sum, 0.5)), 'half are faster'],
    ['Latency, p99', shownMs(quantile(sum, 0.99)), '99 in 100 are faster'],
  ] as const;
  const each = values.map(
    ([name, value, note]) =>
      html`<div><dt>${name}</dt><dd>${value}</dd><dd class="soft">${note}</dd></div>`,
  );
  return html`<dl class="tiles">${each}</dl>`;
}

/** A link to the requests that a filter finds. */
function found(filter: string, text: string): Html {
  return html`<a href="/console/requests?${filter}">${text}</a>`;
}

function chartsOf(used: readonly RequestHour[]): (Chart & { caption: Html })[] {
  const hours = used.map((each) => {
    const [requests, errors] = [each.counts.requests ?? 0, errorsIn(each)];
    return { ...each, requests, errors, p50: quantile(each, 0.5), p99: quantile(each, 0.99) };
  });
  const barsOf = (
    parts: (each: (typeof hours)[0]) => number[],
    text: (each: (typeof hours)[0]) => string,
  ) =>
    hours.map((each) => ({
      hour: each.hour,
      parts: parts(each),
      label: `${shownHour(each.hour)}: ${text(each)}`,
    }));
  return [
    {
      title: 'Requests and errors by hour',
      caption: html`<b>Requests</b> ${legend('succeeded', 'Succeeded')} ${legend('erred', 'With errors')}`,
      classes: ['succeeded', 'erred'],
      bars: barsOf(
        ({ requests, errors }) => [requests - errors, errors],
        ({ requests, errors }) =>
          `${shownNumber(requests)} requests, ${shownNumber(errors)} with errors`,
      ),
      most: roundUp(Math.max(2, ...hours.map(({ requests }) => requests))),
      axis: shownShort,
    },
    {
      title: 'Peak budget use by hour',
      caption: html`<b>Peak budget use</b>`,
      classes: ['succeeded'],
      bars: barsOf(
        ({ budget }) => [budget],
        ({ budget }) => `${shownPercent(budget)} of the budget used`,
      ),
      most: 1,
      axis: shownPercent,
    },
    {
      title: 'Latency by hour',
      caption: html`<b>Latency in ms</b> ${legend('p50', 'p50')} ${legend('p99', 'p99')}`,
      classes: ['p50', 'p99'],
      bars: barsOf(
        ({ p50, p99 }) => [p50, p99 - p50],
        ({ p50, p99 }) => `p50 ${shownMs(p50)}, p99 ${shownMs(p99)}`,
      ),
      most: roundUp(Math.max(2, ...hours.map(({ p99 }) => p99))),
      axis: shownShort,
    },
  ];
}

function legend(name: string, text: string): Html {
  return html`<span class="legend ${name}">${text}</span>`;
}

function hourTable(used: readonly RequestHour[]): Html {
  const rows = used.toReversed().map((each) => {
    const { requests = 0, partial = 0, refused = 0, failed = 0 } = each.counts;
    const next = hourOf(new Date(Date.parse(`${each.hour}:00Z`) + 3_600_000));
    const counts = [[partial], [refused, '4xx'], [failed, '5xx']] as const;
    const errors = counts.map(([count, status]) => {
      const filter = `status=${status}&from=${each.hour}:00&to=${next}:00`;
      const text = shownNumber(count);
      if (count === 0) return html`<td class="none">${text}</td>`;
      return html`<td class="some">${status === undefined ? text : found(filter, text)}</td>`;
    });
    return html`<tr>
<th scope="row"><time datetime="${each.hour}:00Z">${shownHour(each.hour)}</time></th>
<td>${shownNumber(requests)}</td>${errors}<td>${shownPercent(each.budget)}</td>
<td>${shownMs(quantile(each, 0.5))}</td><td>${shownMs(quantile(each, 0.99))}</td></tr>`;
  });
  const columns = ['Hour', 'Requests', 'Partial', '4xx', '5xx', 'Budget', 'p50', 'p99'];
  const caption = 'By hour. Partial means status 200 with errors.';
  return table(['by-hour', caption], columns, rows, 'numbers');
}
