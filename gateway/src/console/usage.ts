// The section usage: a partner's requests, errors, budget and latency by hour.
import { type Html, html } from '../pages/html.ts';
import {
  errorsIn,
  keptHours,
  quantile,
  type RequestHour,
  type RequestSums,
  sumOf,
} from '../usage/requests.ts';
import type { UsageStore } from '../usage/usagestore.ts';
import { barChart, type ChartOf, lineChart, roundUp } from './chart.ts';
import { shownHour, shownMs, shownNumber, shownPercent, shownShort } from './format.ts';
import type { Section } from './section.ts';

export function usageSection(
  store: Pick<UsageStore, 'requestHours'>,
  now: () => Date = () => new Date(),
): Section {
  return {
    name: 'usage',
    title: 'Usage',
    async show({ staff }) {
      const at = now();
      return shownUsage(await store.requestHours(staff.partnerId, at), keptHours(at).reverse());
    },
  };
}

function shownUsage(used: readonly RequestHour[], hours: readonly string[]): Html {
  if (used.length === 0)
    return html`<div class="empty"><h2>No requests in the last 7 days</h2>
<p>Requests show here within a minute. <a href="/docs">Send the first one</a> with one of your
<a href="/console/keys">keys</a>.</p></div>`;
  return html`<p class="soft">The last 7 days. Hours are in UTC.</p>
${tiles(sumOf(used))}
<div class="usage">
<div class="charts">${charts(used, hours)}</div>
${hourTable(used)}
</div>`;
}

function tiles(sum: RequestSums): Html {
  const errors = errorsIn(sum);
  const share = shownPercent(errors / sum.requests);
  const facts = [
    ['Requests', shownNumber(sum.requests), 'in 7 days'],
    ['With errors', shownNumber(errors), errors === 0 ? '' : `${share} of requests`],
    ['Budget at its fullest', shownPercent(sum.budget), 'of one key'],
    ['Latency, p50', shownLatency(sum, 0.5), 'half of the requests'],
    ['Latency, p99', shownLatency(sum, 0.99), '99 of 100 requests'],
  ] as const;
  const each = facts.map(
    ([name, value, note]) =>
      html`<div><dt>${name}</dt><dd>${value}</dd><dd class="soft">${note}</dd></div>`,
  );
  return html`<dl class="tiles">${each}</dl>`;
}

function charts(used: readonly RequestHour[], hours: readonly string[]): Html[] {
  const chartOf = (
    title: string,
    valuesOf: (hour: RequestHour) => number[],
    labelOf: (hour: RequestHour) => string,
  ): Pick<ChartOf<number[]>, 'title' | 'hours' | 'marks'> => {
    const marks = used.map((hour) => {
      const label = `${shownHour(hour.hour)} UTC: ${labelOf(hour)}`;
      return [hour.hour, { value: valuesOf(hour), label }] as const;
    });
    return { title: `${title}. The table has the numbers.`, hours, marks: new Map(marks) };
  };
  const requests = chartOf(
    'Requests and errors by hour',
    (hour) => [hour.requests - errorsIn(hour), errorsIn(hour)],
    (hour) => `${shownNumber(hour.requests)} requests, ${shownNumber(errorsIn(hour))} with errors`,
  );
  const budget = chartOf(
    'Budget at its fullest by hour',
    (hour) => [Math.min(1, hour.budget)],
    (hour) => `${shownPercent(hour.budget)} of the budget used`,
  );
  const latency = chartOf(
    'Latency by hour',
    (hour) => [quantile(hour, 0.5) ?? 0, quantile(hour, 0.99) ?? 0],
    (hour) => `p50 ${shownLatency(hour, 0.5)}, p99 ${shownLatency(hour, 0.99)}`,
  );
  const most = roundUp(Math.max(2, ...used.map((hour) => hour.requests)));
  const slowest = roundUp(Math.max(...used.map((hour) => quantile(hour, 0.99) ?? 0)));
  return [
    figure(
      'Requests',
      [
        ['succeeded', 'Succeeded'],
        ['erred', 'With errors'],
      ],
      barChart({ ...requests, most, axis: shownShort }, ['succeeded', 'erred']),
    ),
    figure(
      'Budget at its fullest',
      [],
      barChart({ ...budget, most: 1, axis: shownPercent }, ['succeeded']),
    ),
    figure(
      'Latency in ms',
      [
        ['p50', 'p50'],
        ['p99', 'p99'],
      ],
      lineChart({ ...latency, most: slowest, axis: shownShort }, ['p50', 'p99']),
    ),
  ];
}

function figure(title: string, legend: (readonly [string, string])[], chart: Html): Html {
  const keys = legend.map(([name, text]) => html` <span class="legend ${name}">${text}</span>`);
  return html`<figure class="chart"><figcaption><b>${title}</b>${keys}</figcaption>
${chart}</figure>`;
}

function hourTable(used: readonly RequestHour[]): Html {
  const rows = used.toReversed().map(
    (hour) => html`<tr>
<th scope="row"><time datetime="${hour.hour}:00Z">${shownHour(hour.hour)}</time></th>
<td>${shownNumber(hour.requests)}</td>${[hour.partial, hour.refused, hour.failed].map(errorCell)}
<td>${shownPercent(hour.budget)}</td>
<td>${shownLatency(hour, 0.5)}</td><td>${shownLatency(hour, 0.99)}</td></tr>`,
  );
  return html`<div class="scroll" role="region" tabindex="0" aria-labelledby="by-hour">
<table class="numbers"><caption id="by-hour">By hour. Partial means a status of 200 with errors.</caption>
<thead><tr><th scope="col">Hour (UTC)</th><th scope="col">Requests</th>
<th scope="col">Partial</th><th scope="col">4xx</th><th scope="col">5xx</th>
<th scope="col">Budget</th><th scope="col">p50</th><th scope="col">p99</th></tr></thead>
<tbody>${rows}</tbody></table>
</div>`;
}

function errorCell(count: number): Html {
  return count === 0
    ? html`<td class="none">0</td>`
    : html`<td class="some">${shownNumber(count)}</td>`;
}

function shownLatency(sum: RequestSums, part: number): string {
  const durationMs = quantile(sum, part);
  return durationMs === undefined ? '–' : shownMs(durationMs);
}
