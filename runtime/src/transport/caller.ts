// An operation's caller on its way to a subgraph: as a header (RFC 9651), or in a batch as JSON.
// On the wire it is called the scope in both forms: subgraphs of other teams read it by that name.
import { isJsonObject } from '../input.ts';
import type { Caller } from './types.ts';

/** The header of a batch, whose operations have their callers in their extensions. */
export const BATCH = 'kind=batch';

/** A caller in JSON. */
type JsonCaller =
  | { kind: 'partner'; partner: string }
  | { kind: 'member'; member: string; partner?: string | undefined; scopes?: string | undefined }
  | { kind: 'service' };

/**
 * The header's value, such as `kind=partner, partner="acme"`. Throws if an ID has a lone surrogate,
 * which has no UTF-8 form: it must not become another ID.
 */
export function encodeCaller(caller: Caller): string {
  const { kind, ...ids } = jsonCallerOf(caller);
  let text = `kind=${kind}`;
  for (const [name, id] of Object.entries(ids))
    if (id !== undefined) text += `, ${name}=${encodeId(id)}`;
  return text;
}

export function jsonCallerOf(caller: Caller): JsonCaller {
  switch (caller.kind) {
    case 'partner':
      return { kind: 'partner', partner: caller.partnerId };
    case 'member': {
      const { memberId: member, partnerId: partner, scopes } = caller;
      return { kind: 'member', member, partner, scopes };
    }
    case 'service':
      return caller;
  }
}

// The form that encodeCaller writes: each ID is a string or a display string. Measured: a general
// parser takes 20 times as long.
const FORM =
  /^kind=(partner|member|service)(?:, member=("[ !#-[\]-~]*(?:\\["\\][ !#-[\]-~]*)*"|%"[ !#$&-~]*(?:%[0-9a-f]{2}[ !#$&-~]*)*"))?(?:, partner=("[ !#-[\]-~]*(?:\\["\\][ !#-[\]-~]*)*"|%"[ !#$&-~]*(?:%[0-9a-f]{2}[ !#$&-~]*)*"))?(?:, scopes=("[ !#-[\]-~]*(?:\\["\\][ !#-[\]-~]*)*"|%"[ !#$&-~]*(?:%[0-9a-f]{2}[ !#$&-~]*)*"))?$/;

/** The caller in a header, or undefined if there is none. */
export function decodeCaller(text: string): Caller | undefined {
  const [, kind, ...ids] = FORM.exec(text) ?? [];
  try {
    const [member, partner, scopes] = ids.map(decodeId);
    return toCaller(kind, member, partner, scopes);
  } catch {
    return undefined; // A display string that is not UTF-8.
  }
}

function decodeId(written: string | undefined): string | undefined {
  if (written?.startsWith('%')) return decodeURIComponent(written.slice(2, -1));
  return written?.slice(1, -1).replace(/\\(.)/g, '$1');
}

/** The caller in the extensions of an operation, or undefined if there is none. */
export function decodeJsonCaller(value: unknown): Caller | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kind, member, partner, scopes, ...others } = value;
  return Object.keys(others).length === 0 ? toCaller(kind, member, partner, scopes) : undefined;
}

function toCaller(
  kind: unknown,
  member: unknown,
  partner: unknown,
  scopes: unknown,
): Caller | undefined {
  if (partner !== undefined && typeof partner !== 'string') return undefined;
  if (scopes !== undefined && typeof scopes !== 'string') return undefined;
  if (kind === 'member' && typeof member === 'string')
    return {
      kind: 'member',
      memberId: member,
      ...(partner !== undefined && { partnerId: partner }),
      ...(scopes !== undefined && { scopes }),
    };
  if (member !== undefined || scopes !== undefined) return undefined;
  if (kind === 'partner' && partner !== undefined) return { kind: 'partner', partnerId: partner };
  return kind === 'service' && partner === undefined ? { kind: 'service' } : undefined;
}

function encodeId(id: string): string {
  if (/^[ !#-[\]-~]*$/.test(id)) return `"${id}"`;
  if (/^[ -~]*$/.test(id)) return `"${id.replace(/["\\]/g, '\\$&')}"`;
  return displayString(id);
}

/** A display string (RFC 9651, section 3.3.8). */
function displayString(text: string): string {
  if (/\p{Cs}/u.test(text)) throw new Error('an ID with a lone surrogate has no UTF-8 form');
  let encoded = '';
  for (const byte of Buffer.from(text, 'utf8')) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x22 && byte !== 0x25;
    encoded += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`;
  }
  return `%"${encoded}"`;
}
