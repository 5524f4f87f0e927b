// What a schema may have before it is composed, which takes long for large ones.

import type { Need } from '@partner-loyalty/gateway/graph/tables.ts';
import type { Step } from './assessment.ts';

const MAX_BYTES = 256 * 1_024;
/** Of all subgraphs of a team; composing 6,000 takes over 30 seconds. */
const MAX_TYPES = 2_000;
/** The same; composing 50,000 takes over 10 seconds of CPU, for every team that publishes later. */
const MAX_NAMES = 20_000;

/**
 * What an operator has to approve before the schema is composed, unless it grows no further.
 * `names` are the subgraphs of the team.
 */
export function sizeNeeds(step: Step, names: Iterable<string>): Need[] {
  if (step.kind !== 'subgraph') return [];
  const { before, entry, sdl, approved } = step;
  const { name } = entry;
  const own = (schemas: Readonly<Record<string, string>>) =>
    Array.from(new Set([name, ...names]), (each) => schemas[each] ?? '');
  const after = { ...before.schemas, [name]: sdl };
  const bytes = Buffer.byteLength(sdl);
  const whats: string[] = [];
  if (
    approved === undefined &&
    bytes > Math.max(MAX_BYTES, Buffer.byteLength(before.schemas[name] ?? ''))
  )
    whats.push(`${name} would have a schema of ${bytes} bytes, over ${MAX_BYTES}`);
  const [texts, former, then] = [own(after), own(before.schemas), own(approved?.schemas ?? {})];
  for (const [what, count, most] of COUNTED) {
    const found = count(texts);
    // A schema that goes back and is over it alone was approved; what is beside it may be new.
    if (approved !== undefined && count([sdl]) > most) continue;
    if (found > Math.max(most, count(former), count(then)))
      whats.push(
        `${name} and what its team has beside it would have ${found} ${what}, over ${most}`,
      );
  }
  return whats.map((what) => ({ rule: 'size', what, losing: [] }));
}

/** About as many as there are, and never fewer: descriptions may have the words, too. */
export function typesIn(texts: readonly string[]): number {
  const found = texts.join(' ').match(/\b(type|interface|input|enum|union|scalar)\b(?!\s*[:(])/g);
  return found?.length ?? 0;
}

/** All names but those in comments and strings. */
function namesIn(texts: readonly string[]): number {
  const tokens = texts.join('\n').match(STRING_COMMENT_OR_NAME) ?? [];
  return tokens.filter((token) => !/^["#]/.test(token)).length;
}

// A string without its end is one to the end, so that nothing is looked at twice.
const STRING_COMMENT_OR_NAME =
  /"""(?:\\"""|[\s\S])*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?|#.*|[_a-z]\w*/gi;

const COUNTED = [
  ['types', typesIn, MAX_TYPES],
  ['names', namesIn, MAX_NAMES],
] as const;
