// Parses files and commands with zod. Every fault has the same form: a path, then what must change.
import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
// Imported from here, since a bundle with all of `z.core` contains zod's translations.
import { toDotPath } from 'zod/v4/core';

/** The parsed value, or the first faults in one line. */
export type Parsed<T> = { value: T } | { fault: string };

/**
 * A parser for a schema, compiled for speed. `subject` names the whole input in its faults, which
 * quote the names of unknown properties but never a value, since that could be personal.
 */
export function createParser<Schema extends z.ZodType>(
  schema: Schema,
  subject = 'it',
): (input: unknown) => Parsed<z.output<Schema>> {
  const compiled = z.compile(schema);
  return (input) => {
    const result = compiled.safeParse(input, { error: describe });
    return result.success
      ? { value: result.data }
      : { fault: inOneLine(result.error.issues, subject) };
  };
}

/**
 * A string of 1 to `limit` characters once it is trimmed, on one line that others read: a name, a
 * title or a label.
 */
export function text(limit: number) {
  return trimmed((value) => {
    const unwanted = characterFault(value);
    return unwanted === undefined ? textFault(value, limit) : `must not contain ${unwanted}`;
  });
}

/** An ID or an address of 1 to `limit` characters once it is trimmed. */
export function idText(limit: number) {
  return trimmed((value) => textFault(value, limit));
}

function trimmed(faultOf: (value: string) => string | undefined) {
  return z.string().transform((value, context) => {
    const fault = faultOf(value);
    if (fault === undefined) return value.trim();
    context.addIssue(fault);
    return z.NEVER;
  });
}

/** A string that `parse` can read; `fault` says what it must be. */
export function parsedBy<T>(parse: (given: string) => T | undefined, fault: string) {
  return z.string().transform((given, context): T => {
    const value = parse(given);
    if (value !== undefined) return value;
    context.addIssue(fault);
    return z.NEVER;
  });
}

/** An integer between two limits, both included; -0 becomes 0. */
export function integer(least: number, most: number) {
  const range = `must be an integer from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}`;
  const error = ({ input }: { input?: unknown }) => (isMissing(input) ? MISSING : range);
  return z
    .int({ error, abort: true })
    .min(least, { error })
    .max(most, { error })
    .overwrite((value) => value + 0);
}

/** A property that may be left out; null counts as left out. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

type OmitUndefined<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** A copy of an object without the properties that are undefined. */
export function omitUndefined<T extends object>(object: T): OmitUndefined<T> {
  const copy: Record<string, unknown> = {};
  for (const key in object) if (object[key] !== undefined) copy[key] = object[key];
  return copy as OmitUndefined<T>; // Cast: only properties that may be undefined are missing.
}

/** A property's name as faults quote it: short, and harmless to a terminal. */
export function quoted(name: string): string {
  const short = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name;
  return JSON.stringify(short).replace(/\p{C}/gu, '?');
}

/**
 * Whether a text has more than `limit` characters, each of which is one or two UTF-16 units. The
 * work is bounded, however long the text is.
 */
export function isLongerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  return text.length > 2 * limit || [...text].length > limit;
}

const MAX_NAME = 40;
/** More do not help whoever mends the input. */
const MAX_FAULTS = 20;
const MAX_FAULT_CHARACTERS = 4_000;
const MISSING = 'is missing';
const NOUNS: Record<string, string> = { string: 'a string', object: 'an object', array: 'a list' };

/** U+00AD, U+200C and U+200D belong to the spelling of words. */
const ALTERING = /(?![\u00ad\u200c\u200d])[\p{Cf}\p{Zl}\p{Zp}]/u;
/** U+2800 is braille without a dot. Emoji and ideographs have variants. */
const UNSEEN =
  /(?![\u00ad\u200c\u200d]|(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[\d#*])\ufe0f\u20e3|(?<=\p{Script=Han})[\u{e0100}-\u{e01ef}])[\u2800\p{Default_Ignorable_Code_Point}]/gu;
/** Words have up to four marks on a character: Hebrew with points and accents, for example. */
const STACKED = /(?<=[\p{Mn}\p{Me}]{4})[\p{Mn}\p{Me}]/gu;

/**
 * What a text that others read must not contain, in words: what alters the text around it, or, in
 * a single line, what nobody sees. With `hasLines`, it may have line feeds and tabs. Undefined if
 * nothing is wrong.
 */
export function characterFault(value: string, hasLines = false): string | undefined {
  const one = hasLines ? value.replace(/[\n\t]/g, ' ') : value;
  if (/\p{Cc}/u.test(one)) return 'control characters';
  if (/\p{Cs}/u.test(one)) return 'lone surrogates';
  if (ALTERING.test(one)) return 'format characters or line separators';
  if (hasLines) return undefined;
  if (one.search(UNSEEN) !== -1) return 'invisible characters';
  if (one.trim() !== '' && !/[^\s\u00ad\u200c\u200d]/.test(one)) return 'only invisible characters';
  const isStacked = one.replace(/[\u00ad\u200c\u200d]/g, '').search(STACKED) !== -1;
  return isStacked ? 'more than 4 marks on a character' : undefined;
}

// Measured: ASCII takes a third of the time.
const PRINTABLE = /^[ -~]*$/;

/** A text without what alters the text around it. */
export function withoutAltering(value: string): string {
  if (PRINTABLE.test(value)) return value;
  return value.replace(/(?!\u00ad|\u200c|\u200d|[\n\r\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '');
}

/** A stored name without what names may no longer have. */
export function visibleName(name: string): string {
  if (PRINTABLE.test(name)) return name;
  return withoutAltering(name).replace(UNSEEN, '').replace(STACKED, '');
}

/** A name for the middle of a sentence, whose direction it cannot change (UAX 9, isolates). */
export function isolated(name: string): string {
  return `\u2068${visibleName(name)}\u2069`;
}

/** What is wrong with an ID, of which `idText` would make no value; undefined if nothing is. */
export function textFault(value: string, limit: number): string | undefined {
  if (/\p{Cc}/u.test(value)) return 'must not contain control characters';
  if (/\p{Cs}/u.test(value)) return 'must not contain lone surrogates';
  const trimmed = value.trim();
  if (trimmed === '') return 'must not be empty';
  return isLongerThan(trimmed, limit) ? `must have at most ${limit} characters` : undefined;
}

/** What is wrong, for the issues whose schema has no words of its own. */
function describe(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type')
    return isMissing(issue.input) ? MISSING : `must be ${NOUNS[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value') return `must be ${issue.values.join(' or ')}`;
  return undefined;
}

function isMissing(input: unknown): boolean {
  return input === undefined || input === null;
}

function inOneLine(issues: readonly z.core.$ZodIssue[], subject: string): string {
  const faults = issues.slice(0, MAX_FAULTS + 1).flatMap((issue) => faultsOf(issue, subject));
  const shown = faults.slice(0, MAX_FAULTS).join('; ');
  const isShort = faults.length <= MAX_FAULTS && shown.length <= MAX_FAULT_CHARACTERS;
  return isShort ? shown : `${shown.slice(0, MAX_FAULT_CHARACTERS)} …`;
}

function faultsOf(issue: z.core.$ZodIssue, subject: string): string[] {
  const path = toDotPath(issue.path);
  if (issue.code !== 'unrecognized_keys')
    return [`${path === '' ? subject : path} ${issue.message}`];
  const place = path === '' ? '' : ` in ${path}`;
  return issue.keys
    .slice(0, MAX_FAULTS + 1)
    .map((name) => `unknown property ${quoted(name)}${place}`);
}

const BYTE_ORDER_MARK = 0xfeff;

/** V8 takes the length of a longer text for its hash: a Map compares it with all of this length. */
export const LONGEST_HASHED = 16_383;

/** The text of UTF-8 bytes, without a byte order mark at the beginning; undefined for others. */
export function utf8Text(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString();
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}

/** Whether a value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
