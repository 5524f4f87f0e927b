// An operation as a command for a shell, which reads the key or token from a variable.
import template from '../gateway/src/pages/docs/languages/curl.txt';
import { filled } from '../gateway/src/pages/docs/template.ts';
import type { Credential } from './credential.ts';
import type { Operation } from './send.ts';

/**
 * What ends the quotes of a shell, and what terminals act on or do not show. The line feeds between
 * the entries of the JSON stay; those in texts are escaped already.
 */
const UNSAFE = /['\u2028\u2029\p{Cf}]|(?!\n)\p{Cc}/gu;

/** Safe to paste, whoever wrote the operation. */
export function curlOf(
  endpoint: string,
  surface: Credential['kind'],
  operation: Operation,
): string {
  const body = JSON.stringify(operation, null, 2).replace(UNSAFE, escaped);
  return filled(template, surface, { endpoint, body });
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
