// Reads one line of an import as a JSON object, refusing what JSON.parse lets pass in silence: a property given twice.
import { isJsonObject } from '@partner-loyalty/runtime';

export type ParsedLine = { value: Record<string, unknown> } | { fault: string };

/** The line's object, or why it is none. The fault holds no value of the line. */
export function parseLine(text: string): ParsedLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: 'not JSON' };
  }
  if (!isJsonObject(value)) return { fault: 'not a JSON object' };
  const twice = repeatedProperty(text);
  return twice === undefined ? { value } : { fault: `property ${quoted(twice)} is given twice` };
}

/** A name out of the line, in quotes and short. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The first property that some object of the text names twice. The text has to be valid JSON, so that its tokens need no checking. */
function repeatedProperty(json: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let names: Set<string> | undefined;
  for (let at = 0; at < json.length; at += 1) {
    switch (json.charCodeAt(at)) {
      case 0x7b: // {
        open.push(names);
        names = new Set();
        break;
      case 0x5b: // [
        open.push(names);
        names = undefined;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        names = open.pop();
        break;
      case QUOTE: {
        const end = closingQuote(json, at);
        if (names !== undefined && isFollowedByColon(json, end)) {
          const raw = json.slice(at + 1, end);
          const name: string = raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
          if (names.has(name)) return name;
          names.add(name);
        }
        at = end;
      }
    }
  }
  return undefined;
}

function closingQuote(json: string, opening: number): number {
  for (let at = opening + 1; ; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
}

function isFollowedByColon(json: string, quote: number): boolean {
  let at = quote + 1;
  while (json.charCodeAt(at) <= 0x20) at += 1;
  return json.charCodeAt(at) === 0x3a;
}
