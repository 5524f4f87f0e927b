// Reads the properties of an imported line by their types. What does not fit fails with BAD_USER_INPUT and names the property, never its value.
import { fail, isJsonObject } from '@partner-loyalty/runtime';
import { quoted } from './json.ts';

/** Fails where the object has a property that is not listed. */
export function refuseUnknown(properties: Record<string, unknown>, known: readonly string[]): void {
  for (const name in properties) {
    if (!known.includes(name)) fail('BAD_USER_INPUT', `unknown property ${quoted(name)}`);
  }
}

/** The string, which has to be there. */
export function stringOf(value: unknown, name: string): string {
  if (value === undefined || value === null) fail('BAD_USER_INPUT', `${name} is missing`);
  if (typeof value !== 'string') fail('BAD_USER_INPUT', `${name} is not a string`);
  return value;
}

/** The string where there is one; `null` counts as none. */
export function optionalStringOf(value: unknown, name: string): string | undefined {
  return value === undefined || value === null ? undefined : stringOf(value, name);
}

/** The items of a list; none where there is no list. */
export function listOf(value: unknown, name: string): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) fail('BAD_USER_INPUT', `${name} is not a list`);
  return value;
}

/** An object with none but the known properties. */
export function objectOf(
  value: unknown,
  name: string,
  known: readonly string[],
): Record<string, unknown> {
  if (!isJsonObject(value)) fail('BAD_USER_INPUT', `${name} is not an object`);
  refuseUnknown(value, known);
  return value;
}
