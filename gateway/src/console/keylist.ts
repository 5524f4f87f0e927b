// The list of keys as HTML, each with what it may do, its use, and the forms that change it.
import { defaultScopes } from '../identity/apikey.ts';
import { type keysWithUse, stateOfKey } from '../identity/keys.ts';
import type { KeyRecord } from '../identity/keystore.ts';
import { type Html, html } from '../pages/html.ts';
import type { KeyScope } from '../schema/scopes.ts';
import { actionForm, confirmed, timeText } from './frame.ts';

type KeyWithUse = Awaited<ReturnType<typeof keysWithUse>>[number];

const SCOPE_TEXTS: Readonly<Record<KeyScope, string>> = {
  read: 'look members up, and read lists and events',
  enroll: 'enroll members and change them',
  'sign-in': 'mail sign-in links and exchange them',
  ingest: 'record activities',
};

/** Those that work before the others, of which there may be more than are given. */
export function keyList(keys: readonly KeyWithUse[], ended: number, isAdmin: boolean): Html {
  const isActive = ({ record }: KeyWithUse) => stateOfKey(record) === 'active';
  const active = keys.filter(isActive).map((key) => rowOf(key, isAdmin));
  const shown = keys.filter((key) => !isActive(key)).map((key) => rowOf(key, false));
  return html`${active.length === 0 ? html`<p>No key works now.</p>` : html`<ul class="rows">${active}</ul>`}
${
  ended === 0
    ? ''
    : html`<details class="ended"><summary>Keys that no longer work: ${ended}</summary>
<ul class="rows">${shown}</ul></details>`
}`;
}

function rowOf({ record, activity }: KeyWithUse, isAdmin: boolean): Html {
  const { keyId, name = 'Key without a name', endpoint = 'graphql', allow } = record;
  const { scopes = defaultScopes(endpoint), createdAt, expiresAt } = record;
  const state = stateOfKey(record);
  const use =
    activity === undefined
      ? html`never`
      : html`${timeText(activity.lastUsedAt)}; in 24 hours
${activity.requests.toLocaleString('en')} requests, ${activity.refusals.toLocaleString('en')} refused`;
  return html`<li class="row"><h2>${name} <span class="state ${state}">${state}</span>${
    endpoint === 'mcp' ? html` <span class="state">for /mcp</span>` : ''
  }</h2>
<p class="soft"><code>${keyId}</code></p>
<dl class="facts">
<div><dt>Scopes</dt><dd>${scopes.join(', ')}</dd></div>
${allow === undefined ? '' : html`<div><dt>Addresses</dt><dd>${allow.join(', ')}</dd></div>`}
<div><dt>Created</dt><dd>${timeText(createdAt)}</dd></div>
<div><dt>Expires</dt><dd>${expiresAt ? timeText(expiresAt) : 'never'}</dd></div>
<div><dt>Last used</dt><dd>${use}</dd></div>
</dl>
${isAdmin ? actionsOf(record) : ''}</li>`;
}

function actionsOf({ keyId, endpoint }: KeyRecord): Html {
  const id = html`<input type="hidden" name="keyId" value="${keyId}">`;
  const rotation = html`<p>Makes a new key with the same scopes and addresses, and lets this one work
on for a while.</p>
${actionForm(
  'keys',
  'rotate',
  'Rotate',
  html`${id}<label for="overlap-${keyId}">Both keys work for</label>
<select id="overlap-${keyId}" name="overlap">${options(OVERLAPS, '7')}</select>`,
)}`;
  const revocation = html`<p>Requests with this key are refused within 5 seconds. This cannot be
undone.</p>
${actionForm('keys', 'revoke', 'Revoke', id, 'danger')}`;
  return html`<div class="actions">
${endpoint === 'mcp' ? '' : confirmed('Rotate', rotation)}${confirmed('Revoke', revocation)}</div>`;
}

const OVERLAPS = [
  ['1', '1 day'],
  ['7', '7 days'],
  ['30', '30 days'],
] as const;
const LIFETIMES = [
  ['30', 'after 30 days'],
  ['90', 'after 90 days'],
  ['365', 'after a year'],
  ['', 'never'],
] as const;

export function newKeyForm(
  scopes: readonly KeyScope[],
  allow: readonly string[] | undefined,
): Html {
  const boxes = scopes.map(
    (scope) =>
      html`<label class="box"><input type="checkbox" name="scopes" value="${scope}"${
        scope === 'read' ? html` checked` : ''
      }> <span><code>${scope}</code> ${SCOPE_TEXTS[scope]}</span></label>`,
  );
  const addresses =
    allow === undefined ? '' : html`<p class="soft">It works from ${allow.join(', ')}.</p>`;
  return html`<details class="new"><summary>Create a key</summary>
${actionForm(
  'keys',
  'create',
  'Create the key',
  html`<label for="name">Name</label>
<input id="name" name="name" maxlength="100" autocomplete="off" required aria-describedby="name-hint">
<p class="soft" id="name-hint">Where it is used, such as “Booking system”.</p>
<fieldset><legend>Scopes</legend>${boxes}</fieldset>
<label for="expires">Expires</label>
<select id="expires" name="expires">${options(LIFETIMES, '90')}</select>${addresses}`,
)}</details>`;
}

function options(all: readonly (readonly [string, string])[], selected: string): Html[] {
  return all.map(
    ([value, name]) =>
      html`<option value="${value}"${value === selected ? html` selected` : ''}>${name}</option>`,
  );
}
