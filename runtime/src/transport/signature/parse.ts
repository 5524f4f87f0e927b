// Reads the signature headers in any form that RFC 9421 and RFC 9530 allow.
import {
  type BareItem,
  type InnerList,
  isInnerList,
  parseDictionary,
  serializeInnerList,
} from 'structured-headers';
import { UNNUMBERED } from '../protocol.ts';
import { COMPONENTS, type Component, type ReadSignature, TAG } from './base.ts';

/** The longest header to parse, in characters: the parser is slow, and anyone may send one. */
const MAX_HEADER = 2_000;

/**
 * The signature with this project's tag, under any label and with its components and parameters in
 * any order, or undefined if there is none or more than one. It must cover exactly the components
 * of base.ts.
 */
export function readOtherSignature(input: string, signature: string): ReadSignature | undefined {
  const inputs = dictionaryOf(input);
  const tagged = [...inputs].filter(([, member]) => member[1].get('tag') === TAG);
  const [label, list] = tagged[0] ?? [];
  if (tagged.length !== 1 || label === undefined || list === undefined || !isInnerList(list))
    return undefined;
  const order = componentsOf(list);
  const values = valuesOf(list[1]);
  const given = base64Of(dictionaryOf(signature).get(label)?.[0]);
  if (order === undefined || values === undefined || given === undefined) return undefined;
  return { params: serializeInnerList(list), order, given, ...values };
}

/**
 * The SHA-256 of a Content-Digest that may have other algorithms too, as this project writes it.
 */
export function otherDigest(text: string): string | undefined {
  const digest = base64Of(dictionaryOf(text).get('sha-256')?.[0]);
  return digest === undefined ? undefined : `sha-256=:${digest}:`;
}

function componentsOf([items]: InnerList): Component[] | undefined {
  const names = items.flatMap(([name, params]) => (params.size === 0 ? [name] : []));
  const order = COMPONENTS.filter((name) => names.includes(name));
  if (items.length !== COMPONENTS.length || order.length !== COMPONENTS.length) return undefined;
  // Cast: these are the names of COMPONENTS, each once.
  return names as Component[];
}

/** The values of the parameters, or undefined if one is missing or unacceptable. */
function valuesOf(
  params: ReadonlyMap<string, BareItem>,
): Pick<ReadSignature, 'createdMs' | 'keyId' | 'protocol'> | undefined {
  const [created, keyId, nonce] = ['created', 'keyid', 'nonce'].map((name) => params.get(name));
  const [expires, alg] = ['expires', 'alg'].map((name) => params.get(name));
  if (!Number.isInteger(created) || typeof keyId !== 'string') return undefined;
  if (typeof nonce !== 'string' || nonce === '') return undefined;
  if (expires !== undefined && !(Number(expires) * 1000 > Date.now())) return undefined;
  if (alg !== undefined && alg !== 'hmac-sha256') return undefined;
  const protocol = params.get('protocol') ?? UNNUMBERED;
  if (typeof protocol !== 'number') return undefined;
  return { createdMs: Number(created) * 1000, keyId, protocol };
}

/** The dictionary in a header (RFC 9651), which is empty if the header is malformed or too long. */
function dictionaryOf(text: string): ReturnType<typeof parseDictionary> {
  try {
    return text.length > MAX_HEADER ? new Map() : parseDictionary(text);
  } catch {
    return new Map();
  }
}

function base64Of(value: unknown): string | undefined {
  return value instanceof ArrayBuffer ? Buffer.from(value).toString('base64') : undefined;
}
