// A scope on its way to a subgraph: as a header (RFC 9651), or in a batch as JSON.
import {
  type BareItem,
  type Dictionary,
  DisplayString,
  isInnerList,
  parseDictionary,
  Token,
} from 'structured-headers';
import { isJsonObject } from '../json.ts';
import type { Scope } from '../subgraph/types.ts';

/** The header of a batch, whose operations have their scopes in their extensions. */
export const BATCH = 'kind=batch';

/** A scope in JSON. */
export type JsonScope =
  | { kind: 'partner'; partner: string }
  | { kind: 'member'; member: string; partner?: string | undefined }
  | { kind: 'service' };

/**
 * The header's value, such as `kind=partner, partner="acme"`. Throws if an ID has a lone surrogate,
 * which has no UTF-8 form: it must not become another ID.
 */
export function encodeScope(scope: Scope): string {
  switch (scope.kind) {
    case 'partner':
      return `kind=partner, partner=${encodeId(scope.partnerId)}`;
    case 'member': {
      const member = `kind=member, member=${encodeId(scope.memberId)}`;
      return scope.partnerId === undefined
        ? member
        : `${member}, partner=${encodeId(scope.partnerId)}`;
    }
    case 'service':
      return 'kind=service';
  }
}

export function jsonScopeOf(scope: Scope): JsonScope {
  switch (scope.kind) {
    case 'partner':
      return { kind: 'partner', partner: scope.partnerId };
    case 'member':
      return { kind: 'member', member: scope.memberId, partner: scope.partnerId };
    case 'service':
      return scope;
  }
}

// The usual forms. Measured: the general parser takes 20 times as long.
const OWN_FORM =
  /^kind=(?:partner|member, member="([ !#-[\]-~]*)")(?:, partner="([ !#-[\]-~]*)")?$/;

/** The scope in a header, or undefined if there is none. */
export function decodeScope(text: string): Scope | undefined {
  const own = OWN_FORM.exec(text);
  if (own === null) return fromDictionary(text);
  const [, member, partner] = own;
  return toScope(member === undefined ? 'partner' : 'member', member, partner);
}

/** The scope in the extensions of an operation, or undefined if there is none. */
export function decodeJsonScope(value: unknown): Scope | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kind, member, partner, ...others } = value;
  return Object.keys(others).length === 0 ? toScope(kind, member, partner) : undefined;
}

function toScope(kind: unknown, member: unknown, partner: unknown): Scope | undefined {
  if (partner !== undefined && typeof partner !== 'string') return undefined;
  if (kind === 'member' && typeof member === 'string')
    return {
      kind: 'member',
      memberId: member,
      ...(partner !== undefined && { partnerId: partner }),
    };
  if (member !== undefined) return undefined;
  if (kind === 'partner' && partner !== undefined) return { kind: 'partner', partnerId: partner };
  return kind === 'service' && partner === undefined ? { kind: 'service' } : undefined;
}

function fromDictionary(text: string): Scope | undefined {
  let dictionary: Dictionary;
  try {
    dictionary = parseDictionary(text);
  } catch {
    return undefined;
  }
  const values: Record<string, BareItem> = {};
  for (const [name, member] of dictionary) {
    if (isInnerList(member) || member[1].size > 0) return undefined;
    values[name] = member[0];
  }
  const { kind, member, partner, ...others } = values;
  if (!(kind instanceof Token) || Object.keys(others).length > 0) return undefined;
  return toScope(kind.toString(), textOf(member), textOf(partner));
}

/** The text of a display string; any other value as it is, which toScope checks. */
function textOf(value: BareItem | undefined): unknown {
  return value instanceof DisplayString ? value.toString() : value;
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
