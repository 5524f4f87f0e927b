// Decides whether two spellings are the same email address.
import { domainToASCII, domainToUnicode } from 'node:url';
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
/** Where simple case folding differs from a letter's capital in lower case. */
const FOLDED: Readonly<Record<string, string>> = { \u0131: '\u0131', \ufb05: '\ufb06' };
/** A sigma at the end of a word, which Greek writes as \u03c2. */
const FINAL_SIGMA = /(?<=[\p{L}\p{M}])\u03c3(?![\p{L}\p{M}])/gu;

/**
 * The canonical form of an address (docs/callers/members.md, Email): trimmed, NFC, with the local
 * part in one case and the domain in ASCII; nothing else is folded. Undefined if the text is not an
 * address. A canonical form is its own canonical form.
 */
export function canonicalEmail(typed: string): string | undefined {
  return canonicalForm(typed, foldCase);
}

/**
 * Where mail to an address goes: the canonical form, but with the local part as it was typed if
 * each of its letters is there or is the capital of that one, and so with the domain. Whoever reads
 * the mail of a letter that resembles another, such as \u017f, is somebody else.
 */
export function mailboxOf(typed: string): string {
  const [local, domain] = partsOf(canonicalEmail(typed) ?? typed);
  const [own, ownDomain] = partsOf(typed.trim().normalize('NFC'));
  const known = [...local];
  const isSame = [...own].every(
    (letter, place) => letter === known[place] || letter === known[place]?.toUpperCase(),
  );
  const isPlain = !MAPPED_DOMAIN.test(ownDomain.toLowerCase());
  return `${isSame ? own : local}@${isPlain ? ownDomain : domainToUnicode(domain)}`;
}

function partsOf(address: string): [local: string, domain: string] {
  const at = address.indexOf('@');
  return [address.slice(0, at), address.slice(at + 1)];
}

function canonicalForm(typed: string, fold: (local: string) => string): string | undefined {
  const normal = normalized(typed);
  if (normal === undefined) return undefined;
  const at = normal.indexOf('@');
  const typedLocal = normal.slice(0, at);
  // Normalized twice: folding can leave a sequence that NFC orders differently.
  const local = PLAIN.test(normal) ? typedLocal.toLowerCase() : fold(typedLocal).normalize('NFC');
  const domain = asciiDomain(normal.slice(at + 1));
  if (at < 1 || domain === undefined || !LOCAL.test(local)) return undefined;
  const canonical = `${local}@${domain}`;
  return isLongerThan(canonical, ADDRESS_LENGTH) ? undefined : canonical;
}

/** Trimmed and in NFC. Undefined if it is too long or has a forbidden character. */
function normalized(typed: string): string | undefined {
  // The length first: on a very long match, V8's regular expressions run out of stack.
  if (typed.length <= ADDRESS_LENGTH && PLAIN.test(typed)) return typed.toLowerCase();
  // Before trimming, which would remove a line break at the end.
  if (CONTROL.test(typed)) return undefined;
  const trimmed = typed.trim();
  if (FORBIDDEN.test(trimmed) || isLongerThan(trimmed, ADDRESS_LENGTH)) return undefined;
  return trimmed.normalize('NFC');
}

/**
 * Simple case folding (Unicode's CaseFolding.txt, C and S): two texts in NFC have the same result
 * if and only if they fold to the same one. The letters are those that lower-casing would leave.
 */
function foldCase(text: string): string {
  return text.replace(/./gsu, foldCharacter).replace(FINAL_SIGMA, '\u03c2');
}

function foldCharacter(character: string): string {
  const lower = character.toLowerCase();
  const forms = [character.toUpperCase().toLowerCase(), lower, character];
  // Several characters in place of one are full case folding, as of \u00df.
  return FOLDED[character] ?? forms.find((form) => [...form].length === 1) ?? character;
}

function asciiDomain(written: string): string | undefined {
  const typed = written.toLowerCase();
  if (!TYPED_DOMAIN.test(typed) || NUMERIC_END.test(typed)) return undefined;
  // The URL standard leaves such a domain unchanged: it is in lower case already.
  if (!MAPPED_DOMAIN.test(typed)) return DOMAIN.test(typed) ? typed : undefined;
  const ascii = domainToASCII(typed);
  return DOMAIN.test(ascii) && !NUMERIC_END.test(ascii) ? ascii : undefined;
}
