// The examples of the reference, one for each operation: what is sent, and what was answered.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Example, examplesIn } from './example.ts';

/** Stands for the token of a link that was mailed. */
export const TOKEN = 'ml_TOKEN_OF_THE_LINK';

/** In the order of the file. */
export const EXAMPLES = examplesIn(
  readFileSync(join(import.meta.dirname, 'examples.graphql'), 'utf8'),
);

/** The key of its response in responses.generated.json. */
export function exampleKey({ surface, field }: Pick<Example, 'surface' | 'field'>): string {
  return `${surface}.${field}`;
}
