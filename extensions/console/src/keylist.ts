// The list of keys as HTML, each with what it may do, its use, and the forms that change it.
import { defaultScopes } from '@partner-loyalty/gateway/identity/apikey.ts';
import { type keysWithUse, stateOfKey } from '@partner-loyalty/gateway/identity/keys.ts';
import type { KeyRecord, Partner } from '@partner-loyalty/gateway/identity/keystore.ts';
import {
  DEFAULT_SCOPES,
  KEY_SCOPES,
  SCOPE_MEANINGS,
} from '@partner-loyalty/gateway/schema/scopes.ts';
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { timeText } from '@partner-loyalty/runtime/time.ts';
import { actionForm, confirmed, hidden, type Typed } from './forms.ts';
import { facts, rowList, shownNumber, stateText } from './parts.ts';

type KeyWithUse = Awaited<ReturnType<typeof keysWithUse>>[number];

/** The keys that work, and then the others, of which there may be more than are given. */
export function keyList(keys: readonly KeyWithUse[], ended: number, canChange: boolean): Html {
  const isActive = ({ record }: KeyWithUse) => stateOfKey(record) === 'active';
  const active = keys.filter(isActive).map((key) => rowOf(key, canChange));
  const shown = keys.filter((key) => !isActive(key)).map((key) => rowOf(key, false));
  return html`${rowList(active, html`<p>You have no active keys.</p>`)}
${ended === 0 ? '' : confirmed(`Keys that no longer work: ${ended}`, rowList(shown))}`;
}

function rowOf({ record, activity }: KeyWithUse, canChange: boolean): Html {
  const { keyId, createdAt, endpoint, lastFour } = record;
  const use =
    activity === undefined
      ? 'never'
      : html`${timeText(activity.lastUsedAt)}; in the last 24 hours: ${shownNumber(activity.requests)} requests, ${shownNumber(activity.refusals)} refused.
<a href="/console/requests?key=${keyId}">See its requests</a>`;
  return html`<li class="row"><h2><bdi>${nameOf(record)}</bdi> ${stateText(stateOfKey(record))}${
    endpoint === 'mcp' ? html` <span class="state">for /mcp</span>` : ''
  }</h2>
<p class="soft"><code>${keyId}</code>${lastFour === undefined ? '' : html`, ends with <code>${lastFour}</code>`}</p>
${facts([...limitsOf(record), ['Created', timeText(createdAt)], ['Last used', use]])}
${canChange ? actionsOf(record) : ''}</li>`;
}

export function nameOf({ name = 'Key without a name' }: KeyRecord): string {
  return name;
}

/** What a key may do, from where, and until when. */
export function limitsOf(record: KeyRecord): [name: string, value: string][] {
  const { endpoint = 'graphql', scopes = defaultScopes(endpoint), allow, expiresAt } = record;
  return [
    ['Scopes', scopes.join(', ')],
    ...(allow === undefined ? [] : [['Addresses', allow.join(', ')] as [string, string]]),
    ['Expires', expiresAt ? timeText(expiresAt) : 'never'],
  ];
}

function actionsOf({ keyId, endpoint }: KeyRecord): Html {
  const id = hidden('keyId', keyId);
  const rotation = html`<p>Creates a new key with the same scopes and addresses. This key keeps
working for the time that you choose.</p>
${actionForm(
  'keys',
  'rotate',
  'Rotate',
  html`${id}<label for="overlap-${keyId}">Both keys work for</label>
<select id="overlap-${keyId}" name="overlap">
<option value="1">1 day</option><option value="7" selected>7 days</option><option value="30">30 days</option></select>`,
)}`;
  const revocation = html`<p>This key stops working within 5 seconds. This cannot be undone.</p>
${actionForm('keys', 'revoke', 'Revoke', id, 'danger')}`;
  return html`<div class="actions">
${endpoint === 'mcp' ? '' : confirmed('Rotate', rotation)}${confirmed('Revoke', revocation)}</div>`;
}

const LIFETIMES = [
  ['30', 'after 30 days'],
  ['90', 'after 90 days'],
  ['365', 'after a year'],
  ['', 'never'],
] as const;

/** The partner's scopes are the most that a key made here may be used for. */
export function newKeyForm({ scopes = DEFAULT_SCOPES, allow }: Partner, typed: Typed): Html {
  const { value, checked, options, isRejected, marked, fault } = typed;
  const boxes = scopes.map(
    (
      scope,
    ) => html`<label class="box"><input type="checkbox" name="scopes" value="${scope}"${checked('scopes', scope, scope === 'read')}>
<span><code>${scope}</code> ${SCOPE_MEANINGS[scope]}</span></label>`,
  );
  const missing = KEY_SCOPES.filter((scope) => !scopes.includes(scope)).join(', ');
  const others =
    missing === ''
      ? ''
      : html`<p class="soft">Only the operator of this service gives other scopes: ${missing}.</p>`;
  const fields = html`<label for="name">Name</label>
<input id="name" name="name" value="${value('name')}" maxlength="100" autocomplete="off" required
 aria-describedby="name-hint"${marked('name')}>
${fault('name')}
<p class="soft" id="name-hint">Where it is used, such as “Booking system”.</p>
<fieldset><legend>Scopes</legend>${boxes}${fault('scopes')}${others}</fieldset>
<label for="expires">Expires</label>
<select id="expires" name="expires">${options('expires', LIFETIMES, '90')}</select>
${allow === undefined ? '' : html`<p class="soft">It works only from ${allow.join(', ')}.</p>`}`;
  const form = actionForm('keys', 'create', 'Create the key', fields);
  return confirmed('Create a key', form, isRejected, 'new');
}
