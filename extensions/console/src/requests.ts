// The section requests: records of a partner's requests, found by ID, status or code.
import {
  isError,
  KEPT_RECORDS,
  keptSince,
  RECORDS_A_MINUTE,
  type RequestHour,
  type RequestRecord,
  sumOf,
} from '@partner-loyalty/gateway/usage/requests.ts';
import { ERRORS } from '@partner-loyalty/runtime/errors.ts';
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { shownMs, shownNumber, timeTag } from './format.ts';
import { empty, facts, table } from './parts.ts';
import type { Section } from './section.ts';
import { noRequests, type UsageParts } from './usage.ts';

const PATH = '/console/requests';
const SHOWN = 50;
const FIELDS = [
  ['q', 'Request ID'],
  ['status', 'Status, such as 4xx'],
  ['code', 'Error code'],
] as const;

export function createRequestsSection(
  { usageStore }: UsageParts,
  now: () => Date = () => new Date(),
): Section {
  return {
    name: 'requests',
    title: 'Requests',
    about: 'Find requests of the last 7 days by ID, status or error code.',
    async show({ staff: { partnerId }, query }) {
      const at = now();
      const given = (name: string) => query.get(name)?.trim() || undefined;
      const [requestId, status] = [given('q'), given('status')];
      const search = {
        requestId,
        statuses: status === undefined ? undefined : statusesIn(status),
        code: given('code')?.toUpperCase(),
        before: Number(given('before')) || undefined,
      };
      const { records, hasMore } = await usageStore.requests(partnerId, search, SHOWN, at);
      const hours = await usageStore.requestHours(partnerId, at);
      if (hours.length === 0 && records.length === 0) return noRequests('10 seconds');
      return html`${searchForm(query)}
${records.length === 0 ? NOTHING_FOUND : found(records)}
${hasMore ? olderLink(query, records) : ''}${requestId === undefined ? '' : records.map(detail)}
${countedOnly(hours, at)}`;
    },
  };
}

/** `4xx` is from 400 to 499. What is no status is that of no request. */
function statusesIn(given: string): readonly [least: number, most: number] {
  const [least, most] = ['0', '9'].map((digit) => Number(given.replaceAll(/x/gi, digit)));
  return [least ?? 0, most ?? 0];
}

const NOTHING_FOUND = empty(
  'No matching requests are recorded',
  'A request’s ID is in the x-request-id header of its response, and in each of its errors.',
);

function searchForm(query: URLSearchParams): Html {
  const fields = FIELDS.map(
    ([name, label]) => html`<div><label for="${name}">${label}</label>
<input id="${name}" name="${name}" value="${query.get(name) ?? ''}" maxlength="128"
autocomplete="off" spellcheck="false"></div>`,
  );
  const isFiltered = FIELDS.some(([name]) => query.get(name));
  return html`<form class="filter" method="get" action="${PATH}" role="search">
${fields}<button>Search</button>${isFiltered ? html`<a href="${PATH}">Show all</a>` : ''}
</form>`;
}

function found(records: readonly RequestRecord[]): Html {
  const rows = records.map(
    (record) => html`<tr>
<th scope="row"><a href="${PATH}?q=${record.requestId}">${timeTag(record.time)}</a></th>
<td>${statusOf(record)}</td><td>${record.operation ?? '–'}</td><td>${codesOf(record)}</td>
<td class="number">${record.cost}</td><td class="number">${shownMs(record.durationMs)}</td>
<td class="mono">${record.requestId}</td></tr>`,
  );
  const columns = [
    ...[['Time'], ['Status'], ['Operation'], ['Code']],
    ...[['Cost', 'number'], ['Duration', 'number'], ['Request ID']],
  ] as const;
  return table(['found', 'Newest first. Times are in UTC.'], columns, rows, 'found');
}

function statusOf(record: RequestRecord): Html {
  const kind = record.status >= 400 ? 'bad' : isError(record) ? 'partial' : 'good';
  return html`<span class="status ${kind}">${record.status}</span>`;
}

/** Codes of other teams are not in the reference. */
function codesOf({ codes }: RequestRecord): Html {
  const each = codes.map((code) =>
    Object.hasOwn(ERRORS, code)
      ? html`<a href="/docs#${code}"><code>${code}</code></a> `
      : html`<code>${code}</code> `,
  );
  return html`${each}`;
}

function olderLink(query: URLSearchParams, records: readonly RequestRecord[]): Html {
  const older = new URLSearchParams(query);
  older.set('before', String(records.at(-1)?.time));
  return html`<p><a rel="next" href="${PATH}?${older.toString()}">Older requests</a></p>`;
}

function detail(record: RequestRecord): Html {
  const { requestId, keyId, clientId, operation, codes } = record;
  const holder = clientId === undefined ? "a member's token" : `app ${clientId}`;
  return html`<section class="detail" aria-label="Request ${requestId}">
<h2>${operation ?? 'Request'}</h2>${facts([
    ['Request ID', html`<span class="mono">${requestId}</span>`],
    ['Time', timeTag(record.time)],
    ['Operation', operation ?? 'unnamed'],
    ['Status', statusOf(record)],
    ['Errors', codes.length === 0 ? 'none' : codesOf(record)],
    ['Cost', `${shownNumber(record.cost)} of the budget`],
    ['Duration', `${record.durationMs} ms`],
    ['Credential', keyId === undefined ? holder : `key ${keyId}`],
  ])}
<p class="soft">Queries, variables and responses are not recorded.</p></section>`;
}

/** Says which requests of the last 7 days have no record. */
function countedOnly(hours: readonly RequestHour[], at: Date): Html {
  const { requests = 0, recorded = 0 } = sumOf(hours).counts;
  const since = keptSince(hours, at);
  const isCut = since > Date.parse(`${hours[0]?.hour}:00Z`);
  if (recorded >= requests && !isCut) return html``;
  const beyond = html` ${shownNumber(requests - recorded)} of ${shownNumber(requests)} requests in
the last 7 days have no record: each gateway records up to ${RECORDS_A_MINUTE} a minute, errors
first.`;
  const cut = html` The last ${shownNumber(KEPT_RECORDS)} records are kept: those since
${timeTag(since)}.`;
  return html`<div class="notice"><p><b>Some requests were counted but not recorded.</b>${recorded < requests ? beyond : ''}${isCut ? cut : ''}
<a href="/console/usage">Usage</a> includes all of them.</p></div>`;
}
