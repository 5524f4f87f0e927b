// Keys of rows as texts, whose order by code points is the order of their parts.

/** A text, or a whole number from 0 to 2^53 - 1. At one place of a key, all are of one type. */
export type KeyPart = string | number;
export type Key = readonly KeyPart[];

const SEPARATOR = ' ';
/** The first character after the separator. It begins the escape of all up to `#`. */
const ESCAPE = '!';
const NUMBER = '#';
const ESCAPED = /[\0-#]/;
const SHIFT = 0x40;
const DIGITS = 16;
const LAST = '\u{10ffff}';

/** The text of a key: `m-1 #0001795896617198`. Keys with the same first parts are together. */
export function textOf(key: Key): string {
  return key.map(partText).join(SEPARATOR);
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
  if (!ESCAPED.test(part)) return part;
  return part.replace(
    /[\0-#]/g,
    (char) => ESCAPE + String.fromCharCode(char.charCodeAt(0) + SHIFT),
  );
}
