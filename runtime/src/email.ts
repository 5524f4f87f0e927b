// Decides whether two spellings are the same email address.
import { domainToASCII } from 'node:url';
import { isLongerThan } from './input.ts';

/**
 * The longest address, in characters, as typed and in canonical form (RFC 5321, section 4.5.3.1.3,
 * without the angle brackets).
 */
export const ADDRESS_LENGTH = 254;

// RFC 5322's dot-atom, with RFC 6531's characters beyond ASCII. A quoted local part is refused: it
// could hide a second address or a header.
const LOCAL =
  /^[\w!#$%&'*+/=?^`{|}~\u0080-\u{10ffff}-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u0080-\u{10ffff}-]+)*$/u;
// domainToASCII parses the host of a URL: any other ASCII character could end the host or be
// decoded.
const TYPED_DOMAIN = /^[a-z0-9.\u0080-\u{10ffff}-]+$/u;
const DOMAIN =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
// The URL standard reads a host that ends in a number as an IPv4 address: "1.2" would become
// "1.0.0.2".
const NUMERIC_END = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;
/** Domains that the URL standard may change: with non-ASCII characters, or a Punycode label. */
const MAPPED_DOMAIN = /[^a-z0-9.-]|xn--/;
// Control and format characters, lone surrogates, and any kind of space.
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}]/u;
const CONTROL = /\p{Cc}/u;
/** Printable ASCII without spaces, as most addresses are: nothing to trim, refuse or normalize. */
const PLAIN = /^[!-~]+$/;

/**
 * The canonical form of an address (docs/api.md, Email): trimmed, NFC, in lower case, with the
 * domain in ASCII; nothing else is folded. Undefined if the text is not an address. A canonical
 * form is its own canonical form.
 */
export function canonicalEmail(typed: string): string | undefined {
  const folded = fold(typed);
  if (folded === undefined) return undefined;
  const at = folded.indexOf('@');
  const local = folded.slice(0, at);
  const domain = asciiDomain(folded.slice(at + 1));
  if (at < 1 || domain === undefined || !LOCAL.test(local)) return undefined;
  const canonical = `${local}@${domain}`;
  return isLongerThan(canonical, ADDRESS_LENGTH) ? undefined : canonical;
}

/** Trimmed, in NFC and lower case. Undefined if it is too long or has a forbidden character. */
function fold(typed: string): string | undefined {
  // The length first: on a very long match, V8's regular expressions run out of stack.
  if (typed.length <= ADDRESS_LENGTH && PLAIN.test(typed)) return typed.toLowerCase();
  // Before trimming, which would remove a line break at the end.
  if (CONTROL.test(typed)) return undefined;
  const trimmed = typed.trim();
  if (FORBIDDEN.test(trimmed) || isLongerThan(trimmed, ADDRESS_LENGTH)) return undefined;
  // Normalized twice: lower-casing can leave a sequence that NFC orders differently.
  return trimmed.normalize('NFC').toLowerCase().normalize('NFC');
}

function asciiDomain(typed: string): string | undefined {
  if (!TYPED_DOMAIN.test(typed) || NUMERIC_END.test(typed)) return undefined;
  // The URL standard leaves such a domain unchanged: it is in lower case already.
  if (!MAPPED_DOMAIN.test(typed)) return DOMAIN.test(typed) ? typed : undefined;
  const ascii = domainToASCII(typed);
  return DOMAIN.test(ascii) && !NUMERIC_END.test(ascii) ? ascii : undefined;
}
