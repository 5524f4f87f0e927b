// What a schema may have before it is composed, which takes long for large ones.

import type { Need } from '@partner-loyalty/gateway/graph/tables.ts';
import type { Step } from './assessment.ts';

const MAX_BYTES = 256 * 1_024;
/** Of all subgraphs of a team; composing 6,000 takes over 30 seconds. */
const MAX_TYPES = 2_000;

/**
 * What an operator has to approve before the schema is composed, unless it grows no further.
 * `names` are the subgraphs of the team.
 */
export function sizeNeeds(step: Step, names: Iterable<string>): Need[] {
  if (step.kind !== 'subgraph' || step.approved !== undefined) return [];
  const { before, entry, sdl } = step;
  const { name } = entry;
  const own = (schemas: Readonly<Record<string, string>>) =>
    Array.from(new Set([name, ...names]), (each) => schemas[each] ?? '');
  const after = { ...before.schemas, [name]: sdl };
  const bytes = Buffer.byteLength(sdl);
  const types = typesIn(own(after));
  const whats: string[] = [];
  if (bytes > Math.max(MAX_BYTES, Buffer.byteLength(before.schemas[name] ?? '')))
    whats.push(`${name} would have a schema of ${bytes} bytes, over ${MAX_BYTES}`);
  if (types > Math.max(MAX_TYPES, typesIn(own(before.schemas))))
    whats.push(
      `${name} and what its team has beside it would have ${types} types, over ${MAX_TYPES}`,
    );
  return whats.map((what) => ({ rule: 'size', what, losing: [] }));
}

/** About as many as there are, and never fewer: descriptions may have the words, too. */
export function typesIn(texts: readonly string[]): number {
  const found = texts.join(' ').match(/\b(type|interface|input|enum|union|scalar)\b(?!\s*[:(])/g);
  return found?.length ?? 0;
}
