// The section requests: records of a partner's requests, found by ID, status or code.
import { ERRORS } from '@partner-loyalty/runtime/errors.ts';
import { type Html, html } from '../pages/html.ts';
import {
  isError,
  KEPT_RECORDS,
  keptSince,
  type RequestHour,
  type RequestRecord,
  type RequestSearch,
  sumOf,
} from '../usage/requests.ts';
import type { UsageStore } from '../usage/usagestore.ts';
import { shownMs, shownNumber, timeTag } from './format.ts';
import type { ConsoleVisit, Section } from './section.ts';

const PATH = '/console/requests';
const SHOWN = 50;

export function requestsSection(
  store: Pick<UsageStore, 'requestHours' | 'requests'>,
  now: () => Date = () => new Date(),
): Section {
  return {
    name: 'requests',
    title: 'Requests',
    async show({ staff: { partnerId }, query }) {
      const at = now();
      const { records, hasMore } = await store.requests(partnerId, searchIn(query), SHOWN, at);
      const hours = await store.requestHours(partnerId, at);
      const last = records.at(-1);
      return html`${searchForm(query)}
${records.length === 0 ? nothingFound(query, hours) : found(records)}
${hasMore && last ? olderLink(query, last.time) : ''}
${isAboutOne(query) ? records.map(detail) : ''}
${countedOnly(hours, at)}`;
    },
  };
}

/** Empty fields of the form are no conditions. A status that is no number finds nothing. */
function searchIn(query: ConsoleVisit['query']): RequestSearch {
  const given = (name: string) => query.get(name)?.trim() || undefined;
  const [status, before] = [given('status'), Number(given('before'))];
  return {
    requestId: given('q'),
    status: status === undefined ? undefined : Number(status),
    code: given('code')?.toUpperCase(),
    before: before > 0 ? before : undefined,
  };
}

const isAboutOne = (query: ConsoleVisit['query']) => Boolean(query.get('q')?.trim());

const FIELDS = [
  ['q', 'Request ID', 'search'],
  ['status', 'Status', 'text'],
  ['code', 'Error code', 'text'],
] as const;

function searchForm(query: ConsoleVisit['query']): Html {
  const fields = FIELDS.map(
    ([name, label, type]) => html`<div><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${query.get(name) ?? ''}" maxlength="128"
${ATTRIBUTES[name]}></div>`,
  );
  const codes = Object.keys(ERRORS).map((code) => html`<option value="${code}"></option>`);
  const clear = FIELDS.some(([name]) => query.get(name))
    ? html`<a href="${PATH}">Show all</a>`
    : '';
  return html`<form class="filter" method="get" action="${PATH}" role="search">
${fields}<datalist id="codes">${codes}</datalist>
<button>Search</button>${clear}
</form>`;
}

const ATTRIBUTES = {
  q: html`autocomplete="off" spellcheck="false"`,
  status: html`inputmode="numeric" autocomplete="off"`,
  code: html`list="codes" autocomplete="off" spellcheck="false" autocapitalize="characters"`,
};

function nothingFound(query: ConsoleVisit['query'], hours: readonly RequestHour[]): Html {
  if (hours.length === 0)
    return html`<div class="empty"><h2>No requests in the last 7 days</h2>
<p>Requests show here within 10 seconds. <a href="/docs">Send the first one</a> with one of your
<a href="/console/keys">keys</a>.</p></div>`;
  const advice = isAboutOne(query)
    ? 'The ID is that of the response header x-request-id, and of every error.'
    : 'Try fewer conditions.';
  return html`<div class="empty"><h2>No such request is recorded</h2><p>${advice}</p></div>`;
}

function found(records: readonly RequestRecord[]): Html {
  const rows = records.map(
    (record) => html`<tr>
<th scope="row"><a href="${PATH}?q=${record.requestId}">${timeTag(record.time)}</a></th>
<td>${statusBadge(record)}</td>
<td>${record.operation ?? '–'}</td>
<td>${codesOf(record)}</td>
<td class="number">${record.cost}</td>
<td class="number">${shownMs(record.durationMs)}</td>
<td class="mono">${record.requestId}</td></tr>`,
  );
  return html`<div class="scroll" role="region" tabindex="0" aria-labelledby="found">
<table class="found"><caption id="found">The newest first. Times are in UTC.</caption>
<thead><tr><th scope="col">Time</th><th scope="col">Status</th><th scope="col">Operation</th>
<th scope="col">Code</th><th scope="col" class="number">Cost</th>
<th scope="col" class="number">Duration</th><th scope="col">Request ID</th></tr></thead>
<tbody>${rows}</tbody></table>
</div>`;
}

function statusBadge(record: RequestRecord): Html {
  const kind = record.status >= 400 ? 'bad' : isError(record) ? 'partial' : 'good';
  return html`<span class="status ${kind}">${record.status}</span>`;
}

function codesOf({ codes }: RequestRecord): Html {
  const each = codes.map((code) =>
    Object.hasOwn(ERRORS, code)
      ? html`<a href="/docs#${code}"><code>${code}</code></a> `
      : html`<code>${code}</code> `,
  );
  return html`${each}`;
}

function olderLink(query: ConsoleVisit['query'], before: number): Html {
  const older = new URLSearchParams(query);
  older.set('before', String(before));
  return html`<p><a rel="next" href="${PATH}?${older.toString()}">Older requests</a></p>`;
}

function detail(record: RequestRecord): Html {
  const { keyId, clientId } = record;
  const credential =
    keyId !== undefined ? `key ${keyId}` : clientId !== undefined ? `app ${clientId}` : undefined;
  const facts: [string, string | Html][] = [
    ['Request ID', html`<span class="mono">${record.requestId}</span>`],
    ['Time', timeTag(record.time)],
    ['Operation', record.operation ?? 'without a name'],
    ['Status', statusBadge(record)],
    ['Errors', record.codes.length === 0 ? 'none' : codesOf(record)],
    ['Cost', `${shownNumber(record.cost)} of the budget`],
    ['Duration', `${record.durationMs} ms`],
    ['Credential', credential ?? "a member's token"],
  ];
  const each = facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`);
  return html`<section class="detail" aria-label="Request ${record.requestId}">
<h2>${record.operation ?? 'Request'}</h2><dl>${each}</dl>
<p class="soft">Queries, variables and responses are not recorded.</p></section>`;
}

/** Says which requests of the last 7 days have no record. */
function countedOnly(hours: readonly RequestHour[], at: Date): Html {
  const { requests, recorded } = sumOf(hours);
  const [oldest] = hours;
  const since = keptSince(hours, at);
  const isCut = oldest !== undefined && since > new Date(`${oldest.hour}:00Z`);
  const beyond = requests - recorded;
  if (beyond <= 0 && !isCut) return html``;
  return html`<div class="notice"><p><b>Some requests were only counted.</b>
${beyond > 0 ? html`${shownNumber(beyond)} of ${shownNumber(requests)} requests in the last 7 days have no record: beyond 100 in a minute, each gateway only counts them, successes first.` : ''}
${isCut ? html`The last ${shownNumber(KEPT_RECORDS)} records are kept, which are those since ${timeTag(since.getTime())}.` : ''}
<a href="/console/usage">Usage</a> has all of them.</p></div>`;
}
