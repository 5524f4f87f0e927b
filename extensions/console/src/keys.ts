// The section /console/keys: the partner's API keys, and what they were used for.
import {
  createKey,
  keysWithUse,
  rotateKey,
  stateOfKey,
} from '@partner-loyalty/gateway/identity/keys.ts';
import type { KeyRecord, Partner } from '@partner-loyalty/gateway/identity/keystore.ts';
import { DEFAULT_SCOPES } from '@partner-loyalty/gateway/schema/scopes.ts';
import { createParser, omitUndefined, text } from '@partner-loyalty/runtime/input.ts';
import { noticeBox } from '@partner-loyalty/runtime/pages/cards.ts';
import { codeBlock, type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { timeText } from '@partner-loyalty/runtime/time.ts';
import { typedInto } from './forms.ts';
import { keyList, limitsOf, nameOf, newKeyForm } from './keylist.ts';
import type { ConsoleParts } from './manage.ts';
import { facts } from './parts.ts';
import {
  type Action,
  ConsoleError,
  type ConsoleVisit,
  isAdmin,
  NotFoundError,
  type Section,
} from './section.ts';

/** Keys are never removed, so that their number has a bound. */
const MAX_KEYS = 1_000;
/** The page shows all that work. */
const MAX_ACTIVE = 100;
/** How many of the keys that no longer work are shown, the latest first. */
const SHOWN_ENDED = 20;
const DAY_MS = 86_400_000;
const readName = createParser(text(100), 'The name');

export function createKeysSection({ keyStore, usageStore, settings }: ConsoleParts): Section {
  const { environment } = settings;
  const create: Action = async ({ staff, changed }, form) => {
    const { partnerId } = staff;
    const partner = await keyStore.partner(partnerId);
    if (partner === undefined) throw new NotFoundError('There is no such partner.');
    const name = readName(form.get('name') ?? '');
    if ('fault' in name) throw new ConsoleError(`${name.fault}.`, 'name');
    const scopes = scopesIn(form, partner);
    const days = daysIn(form, 'expires');
    const expiresAt = days === undefined ? undefined : new Date(Date.now() + days * DAY_MS);
    await requireRoom(partnerId);
    const { allow } = partner;
    const limits = omitUndefined({ name: name.value, scopes, allow, expiresAt });
    const { key, record } = await createKey(keyStore, environment, partnerId, limits);
    changed(record.keyId);
    return newKey(key, record);
  };

  async function requireRoom(partnerId: string): Promise<void> {
    const all = await keyStore.keys(partnerId);
    if (all.length >= MAX_KEYS)
      throw new ConsoleError(
        `You have created ${MAX_KEYS} keys, which is the limit. Ask the operator.`,
      );
    if (all.filter(isActive).length >= MAX_ACTIVE)
      throw new ConsoleError(`You have ${MAX_ACTIVE} active keys. Revoke one first.`);
  }

  const rotate: Action = async (visit, form) => {
    const former = await keyOf(visit, form);
    if (former.endpoint === 'mcp')
      throw new ConsoleError('Only the operator of this service can create keys for /mcp.');
    if (!isActive(former)) throw new ConsoleError('This key no longer works. Create a new one.');
    await requireRoom(former.partnerId);
    const overlapMs = (daysIn(form, 'overlap') ?? 0) * DAY_MS;
    const rotated = await rotateKey(keyStore, environment, former, { overlapMs });
    return newKey(rotated.key, rotated.record, rotated.formerExpiresAt);
  };

  const revoke: Action = async (visit, form) => {
    const { keyId } = await keyOf(visit, form);
    await keyStore.revokeKey(keyId, new Date());
    return undefined;
  };

  /** The key of a form, if it is the partner's own. */
  async function keyOf({ staff, changed }: ConsoleVisit, form: URLSearchParams) {
    const key = await keyStore.key(form.get('keyId') ?? '');
    if (key === undefined || key.partnerId !== staff.partnerId)
      throw new NotFoundError('There is no key with this ID.');
    changed(key.keyId);
    return key;
  }

  return {
    name: 'keys',
    title: 'API keys',
    about: 'Create, rotate and revoke keys; see their scopes and when they were last used.',
    async show(visit) {
      const { partnerId } = visit.staff;
      const partner = await keyStore.partner(partnerId);
      const { shown, ended } = shownOf(await keyStore.keys(partnerId));
      const keys = await keysWithUse(shown, usageStore);
      return html`<p>Send a key in the header <code>x-partner-api-key</code>. Keys belong on servers,
never in an app or a web page. <a href="/docs#keys">Keys and scopes</a></p>
${isAdmin(visit) && partner ? newKeyForm(partner, typedInto(visit, 'create')) : ''}
${keyList(keys, ended, isAdmin(visit))}`;
    },
    actions: { create, rotate, revoke },
    done: { revoke: 'The key is revoked. It stops working within 5 seconds.' },
  };
}

/** The keys that work and the latest of those that do not, of which there are `ended`. */
export function shownOf(keys: readonly KeyRecord[]): { shown: KeyRecord[]; ended: number } {
  const newest = keys.toReversed();
  const ended = newest.filter((key) => !isActive(key));
  const shown = [...newest.filter(isActive), ...ended.slice(0, SHOWN_ENDED)];
  return { shown, ended: ended.length };
}

const isActive = (key: KeyRecord) => stateOfKey(key) === 'active';

function scopesIn(form: URLSearchParams, { scopes: allowed = DEFAULT_SCOPES }: Partner) {
  const given = form.getAll('scopes');
  const scopes = allowed.filter((scope) => given.includes(scope));
  if (scopes.length === 0) throw new ConsoleError('Choose at least one scope.', 'scopes');
  if (scopes.length < new Set(given).size)
    throw new ConsoleError(
      `Your keys can have the scopes ${allowed.join(', ')}. Ask the operator for others.`,
      'scopes',
    );
  return scopes;
}

/** A number of days; undefined if the field is empty. */
function daysIn(form: URLSearchParams, name: string): number | undefined {
  const given = form.get(name) ?? '';
  if (given === '') return undefined;
  if (!/^\d{1,4}$/.test(given)) throw new ConsoleError('Choose a number of days.');
  return Number(given);
}

function newKey(key: string, record: KeyRecord, formerExpiresAt?: Date): Html {
  const rows: [string, string | Html][] = [
    ['Name', nameOf(record)],
    ['Key ID', html`<code>${record.keyId}</code>`],
    ...limitsOf(record),
  ];
  if (formerExpiresAt) rows.push(['The old key', `works until ${timeText(formerExpiresAt)}`]);
  return html`${noticeBox('Copy the key now: it is not shown again.', false)}
${codeBlock('Your new key', key)}
${facts(rows)}
<p><a href="/console/keys">All keys</a></p>`;
}
