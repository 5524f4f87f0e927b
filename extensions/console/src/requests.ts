// The section requests: records of a partner's requests, found by ID, status or code.
import type { KeyRecord, KeyStore } from '@partner-loyalty/gateway/identity/keystore.ts';
import {
  isError,
  KEPT_RECORDS,
  keptSince,
  RECORDS_A_MINUTE,
  type RequestHour,
  type RequestRecord,
  sumOf,
  unrecordedIn,
} from '@partner-loyalty/gateway/usage/requests.ts';
import { ERRORS } from '@partner-loyalty/runtime/errors.ts';
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { timeIn } from './forms.ts';
import { nameOf } from './keylist.ts';
import { shownOf } from './keys.ts';
import { empty, facts, shownMs, shownNumber, stateText, table, timeTag } from './parts.ts';
import type { Section } from './section.ts';
import { noRequests, type UsageParts } from './usage.ts';

const PATH = '/console/requests';
const SHOWN = 50;
const FIELDS = [
  ['q', 'Request ID', 'text'],
  ['status', 'Status, or 4xx', 'text'],
  ['code', 'Error code', 'text'],
  ['from', 'From, in UTC', 'datetime-local'],
  ['to', 'To, in UTC', 'datetime-local'],
] as const;
const FILTERS = [...FIELDS.map(([name]) => name), 'key'];

export function createRequestsSection(
  { usageStore, keyStore }: UsageParts & { keyStore: Pick<KeyStore, 'keys'> },
  now: () => Date = () => new Date(),
): Section {
  return {
    name: 'requests',
    title: 'Requests',
    about: 'Find requests of the last 7 days by ID, status, error code, key or time.',
    async show({ staff: { partnerId }, query }) {
      const at = now();
      const given = (name: string) => query.get(name)?.trim() || undefined;
      const timeOf = (name: string) => {
        const text = given(name);
        return text === undefined ? undefined : timeIn(text);
      };
      const [requestId, status] = [given('q'), given('status')];
      const search = {
        requestId,
        keyId: given('key'),
        statuses: status === undefined ? undefined : statusesIn(status),
        code: given('code')?.toUpperCase(),
        since: timeOf('from'),
        before: Number(given('before')) || timeOf('to'),
      };
      const { records, hasMore } = await usageStore.requests(partnerId, search, SHOWN, at);
      const hours = await usageStore.requestHours(partnerId, at);
      if (hours.length === 0 && records.length === 0) return noRequests('10 seconds');
      const keys = await keyStore.keys(partnerId);
      const names = new Map(keys.map((key) => [key.keyId, nameOf(key)]));
      return html`${searchForm(query, keys)}
${records.length === 0 ? NOTHING_FOUND : found(records, names)}
${hasMore ? olderLink(query, records) : ''}${requestId === undefined ? '' : records.map((record) => detail(record, names))}
${countedOnly(hours, at)}`;
    },
  };
}

/** `4xx` is from 400 to 499. What is no status is that of no request. */
function statusesIn(given: string): readonly [least: number, most: number] {
  const [least, most] = ['0', '9'].map((digit) => Number(given.replaceAll(/x/gi, digit)));
  return [least ?? 0, most ?? 0];
}

/** The names of keys by ID. */
type Names = ReadonlyMap<string, string>;

const NOTHING_FOUND = empty(
  'No matching requests are recorded',
  'A request’s ID is in the x-request-id header of its response, and in each of its errors.',
);

function searchForm(query: URLSearchParams, keys: readonly KeyRecord[]): Html {
  const fields = FIELDS.map(
    ([name, label, type]) => html`<div><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${query.get(name) ?? ''}" maxlength="128"
autocomplete="off" spellcheck="false"></div>`,
  );
  const chosen = query.get('key') ?? '';
  const { shown } = shownOf(keys);
  const listed = keys.filter((key) => shown.includes(key) || key.keyId === chosen).toReversed();
  const options = listed.map((key) => {
    const { keyId, lastFour } = key;
    const which = lastFour === undefined ? keyId : `…${lastFour}`;
    return html`<option value="${keyId}"${keyId === chosen ? html` selected` : ''}>${nameOf(key)}, ${which}</option>`;
  });
  const isFiltered = FILTERS.some((name) => query.get(name));
  return html`<form class="filter" method="get" action="${PATH}" role="search">
${fields.slice(0, 3)}<div><label for="key">Key</label>
<select id="key" name="key"><option value="">All</option>${options}</select></div>
${fields.slice(3)}<button>Search</button>${isFiltered ? html`<a href="${PATH}">Show all</a>` : ''}
</form>`;
}

function found(records: readonly RequestRecord[], names: Names): Html {
  const rows = records.map(
    (record) => html`<tr>
<th scope="row"><a class="mono" href="${PATH}?q=${record.requestId}">${record.requestId}</a></th>
<td>${timeTag(record.time)}</td><td>${statusOf(record)}</td><td>${record.operation ?? '–'}<br><bdi class="soft">${names.get(record.keyId ?? '') ?? ''}</bdi></td><td>${codesOf(record)}</td>
<td class="number">${record.cost}</td><td class="number">${shownMs(record.durationMs)}</td></tr>`,
  );
  const numbers = ['Cost', 'Duration'];
  const columns = ['Request ID', 'Time', 'Status', 'Operation, key', 'Code', ...numbers];
  return table(['found', 'Newest first.'], columns, rows, 'found', numbers);
}

function statusOf(record: RequestRecord): Html {
  const kind = record.status >= 400 ? 'bad' : isError(record) ? 'partial' : 'good';
  const fault = record.isFault ? html` ${stateText('fault')}` : '';
  return html`<span class="status ${kind}">${record.status}</span>${fault}`;
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

function detail(record: RequestRecord, names: Names): Html {
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
    ['Credential', keyId === undefined ? holder : keyText(keyId, names)],
  ])}
<p class="soft">Queries, variables and responses are not recorded.</p></section>`;
}

function keyText(keyId: string, names: Names): Html {
  const name = names.get(keyId);
  return html`key ${name === undefined ? '' : html`<bdi>${name}</bdi> `}<code>${keyId}</code>`;
}

/** Says which requests of the last 7 days have no record. */
function countedOnly(hours: readonly RequestHour[], at: Date): Html {
  const sum = sumOf(hours);
  const [missing, { requests = 0 }] = [unrecordedIn(sum), sum.counts];
  const since = keptSince(hours, at);
  const isCut = since > Date.parse(`${hours[0]?.hour}:00Z`);
  if (missing === 0 && !isCut) return html``;
  const beyond = html` ${shownNumber(missing)} of ${shownNumber(requests)} requests in
the last 7 days have no record: each gateway records up to ${RECORDS_A_MINUTE} a minute, errors
first.`;
  const cut = html` The last ${shownNumber(KEPT_RECORDS)} records are kept: those since
${timeTag(since)}.`;
  return html`<div class="notice"><p><b>Some requests were counted but not recorded.</b>${missing > 0 ? beyond : ''}${isCut ? cut : ''}
<a href="/console/usage">Usage</a> includes all of them.</p></div>`;
}
