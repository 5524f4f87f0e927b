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

/** A brace, or a string; a property name has a colon after it. */
const TOKEN = /[{}]|"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/g;

/**
 * The first property name that an object in the text has twice, of which JSON.parse drops the
 * first. The text must be valid JSON, so that no token needs a check.
 */
function repeatedProperty(json: string): string | undefined {
  const objects: Set<string>[] = [];
  for (const [token, raw = '', colon] of json.matchAll(TOKEN)) {
    if (token === '{') objects.push(new Set());
    if (token === '}') objects.pop();
    const names = objects.at(-1);
    if (colon === undefined || names === undefined) continue;
    const name: string = raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
    if (names.has(name)) return name;
    names.add(name);
  }
  return undefined;
}
