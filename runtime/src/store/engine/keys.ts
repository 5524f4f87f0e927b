// Keys of rows as texts, whose order by code points is the order of their parts.

/** A text, or a whole number from 0 to 2^53 - 1. At one place of a key, all are of one type. */
export type KeyPart = string | number;
export type Key = readonly KeyPart[];

const SEPARATOR = ' ';
/** The first character after the separator. It begins the escape of all up to `#`. */
const ESCAPE = '!';
const NUMBER = '#';
const MOST_ESCAPED = NUMBER.charCodeAt(0);
const SHIFT = 0x40;
const DIGITS = 16;
const LAST = '\u{10ffff}';

/** The text of a key: `m-1 #0001795896617198`. Keys with the same first parts are together. */
export function textOf(key: Key): string {
  let text = key.length === 0 ? '' : partText(key[0] ?? '');
  for (let at = 1; at < key.length; at += 1) text += SEPARATOR + partText(key[at] ?? '');
  return text;
}

export function keyOf(text: string): Key {
  return text
    .split(SEPARATOR)
    .map((part) =>
      part.startsWith(NUMBER)
        ? Number(part.slice(1))
        : part.replace(/!([@-c])/g, (_, code: string) =>
            String.fromCharCode(code.charCodeAt(0) - SHIFT),
          ),
    );
}

/** Before every key after this one. */
export function afterOf(text: string): string {
  return `${text}\x1f`;
}

/** After every key that begins with the parts of this one, and before all that follow. */
export function endOf(prefix: Key): string {
  return prefix.length === 0 ? LAST : textOf(prefix) + ESCAPE;
}

/** Orders texts by their code points, which are not JavaScript's units. */
export function compareTexts(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function partText(part: KeyPart): string {
  if (typeof part === 'number') return NUMBER + String(part).padStart(DIGITS, '0');
  if (!hasEscaped(part)) return part;
  return part.replace(
    /[\0-#]/g,
    (char) => ESCAPE + String.fromCharCode(char.charCodeAt(0) + SHIFT),
  );
}

/** A loop, since a regular expression takes several times as long. */
function hasEscaped(part: string): boolean {
  for (let at = 0; at < part.length; at += 1) if (part.charCodeAt(at) <= MOST_ESCAPED) return true;
  return false;
}
