// Parses a JSON object and refuses what JSON.parse accepts in silence: a property given twice.
import { isJsonObject, type Parsed, quoted } from '@partner-loyalty/runtime/input.ts';

/** Parses the text of one JSON object. The fault contains no value of it. */
export function parseStrictJson(text: string): Parsed<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: 'must be JSON' };
  }
  if (!isJsonObject(value)) return { fault: 'must be a JSON object' };
  const repeated = repeatedProperty(text);
  return repeated === undefined ? { value } : { fault: `property ${quoted(repeated)} is repeated` };
}

/**
 * The first property name that an object in the text has twice. Scanned by hand, since JSON.parse
 * drops the first of the two. The text must be valid JSON, so that no token needs a check.
 */
function repeatedProperty(json: string): string | undefined {
  const objects: Set<string>[] = [];
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '{') objects.push(new Set());
    if (character === '}') objects.pop();
    if (character !== '"') continue;
    const end = closingQuote(json, at);
    const names = objects.at(-1);
    if (names !== undefined && isFollowedByColon(json, end)) {
      const raw = json.slice(at + 1, end);
      const name: string = raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
      if (names.has(name)) return name;
      names.add(name);
    }
    at = end;
  }
  return undefined;
}

function closingQuote(json: string, opening: number): number {
  for (let at = opening + 1; ; at += 1) {
    if (json[at] === '"') return at;
    if (json[at] === '\\') at += 1;
  }
}

function isFollowedByColon(json: string, quote: number): boolean {
  let at = quote + 1;
  while (json.charCodeAt(at) <= 0x20) at += 1;
  return json[at] === ':';
}
