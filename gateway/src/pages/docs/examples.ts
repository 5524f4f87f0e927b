// The examples of the reference, one for each operation: what is sent, and what was answered.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SurfaceName } from '../../schema/surfaces.ts';

export type Example = {
  surface: SurfaceName;
  /** The root field that it shows, or `error` if it shows one. */
  field: string;
  query: string;
  variables: Readonly<Record<string, unknown>>;
};

/** Stands for the token of a link that was mailed. */
export const TOKEN = 'ml_TOKEN_OF_THE_LINK';

/** In the order of the file. */
export const EXAMPLES = readExamples();

/** The key of its response in responses.generated.json. */
export function exampleKey({ surface, field }: Pick<Example, 'surface' | 'field'>): string {
  return `${surface}.${field}`;
}

/** Each begins with a comment that has its key and its variables. */
function readExamples(): Example[] {
  const text = readFileSync(join(import.meta.dirname, 'examples.graphql'), 'utf8');
  const [, ...parts] = text.split(/^# (?=partner\.|member\.)/m);
  return parts.map((part) => {
    const [head = '', ...query] = part.trim().split('\n');
    const [key = '', ...variables] = head.split(' ');
    const [surface, field = ''] = key.split('.');
    return {
      surface: surface === 'member' ? 'member' : 'partner',
      field,
      query: query.join('\n'),
      variables: JSON.parse(variables.join(' ')),
    };
  });
}
