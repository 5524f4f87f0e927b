// What of a schema's size needs approval: before it is composed, and by what it costs then.

import type { Costs, Took } from '@partner-loyalty/gateway/graph/graph.ts';
import type { Need } from '@partner-loyalty/gateway/graph/tables.ts';
import type { Step } from './assessment.ts';

const MAX_BYTES = 256 * 1_024;
/** Of all subgraphs of a team; composing 6,000 takes over 30 seconds. */
const MAX_TYPES = 2_000;
const MAX_COUNTED = 10_000;
/** For a step of any team, half a second is ordinary; for the planners, 5 MB. */
const MOST: Costs = { ms: 5_000, mb: 100 };
const UNITS = [
  {
    unit: 'ms',
    approvedUnit: 'approvedMs',
    phrase: 'each step of every team would take CPU for',
    text: (ms: number) => `${(ms / 1_000).toFixed(1)} s`,
  },
  {
    unit: 'mb',
    approvedUnit: 'approvedMb',
    phrase: 'the planners of each gateway would take',
    text: (mb: number) => `${mb.toFixed(0)} MB`,
  },
] as const;
/** How much longer it may take than what was approved: on a busy machine, a quarter is nothing. */
export const TOLERANCE = 1.5;

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
  const found = typesIn(own(after));
  // A schema that goes back and is over it alone was approved; what is beside it may be new.
  const wasApproved = () => approved !== undefined && typesIn([sdl]) > MAX_TYPES;
  const isOver = (schemas = {}) => found > typesIn(own(schemas));
  if (found > MAX_TYPES && isOver(before.schemas) && isOver(approved?.schemas) && !wasApproved())
    whats.push(
      `${name} and what its team has beside it would have ${found} types, over ${MAX_TYPES}`,
    );
  return whats.map((what) => ({ rule: 'size', what, losing: [] }));
}

/**
 * What an operator has to approve once the step has been assessed: what costs more than `most`, and
 * more than now or, with the tolerance, than what was approved.
 */
export function costNeeds(step: Step, costs: Costs, most = MOST): Need[] {
  if (step.kind !== 'subgraph') return [];
  const { before, approved, entry } = step;
  return UNITS.flatMap(({ unit, approvedUnit, phrase, text }) => {
    const known = [before.took, approved?.took].flatMap((took) => [
      took?.[unit] ?? 0,
      (took?.[approvedUnit] ?? 0) * TOLERANCE,
    ]);
    const allowed = Math.max(most[unit], ...known);
    if (costs[unit] <= allowed) return [];
    const last = before.took?.[unit];
    const now = last === undefined ? '' : ` (now ${text(last)})`;
    const what = `with this schema of ${entry.name}, ${phrase} ${text(costs[unit])}, over ${text(allowed)}${now}`;
    return { rule: 'size', what, losing: [], [unit]: costs[unit] };
  });
}

/**
 * What a version says of later steps. `approved` are the needs that an operator has seen; what was
 * approved counts until the graph costs much less again.
 */
export function tookOf(step: Step, costs: Costs, approved: readonly Need[], most = MOST): Took {
  const before = step.before.took ?? {};
  const took: Took = {};
  for (const { unit, approvedUnit } of UNITS) {
    const cost = costs[unit];
    // Comparing much that goes away takes long, which later steps may not.
    took[unit] = step.kind === 'removal' ? Math.min(cost, before[unit] ?? most[unit]) : cost;
    const seen = approved.find((need) => need[unit] !== undefined)?.[unit];
    const given = step.kind === 'content' && cost > most[unit] ? cost : seen;
    const counts = given ?? (cost * TOLERANCE > most[unit] ? before[approvedUnit] : undefined);
    if (counts !== undefined) took[approvedUnit] = counts;
  }
  return took;
}

/**
 * About as many as there are, and never fewer: descriptions may have the words, too. Stops at
 * 10,000, which nothing could compose.
 */
export function typesIn(texts: readonly string[]): number {
  const text = texts.join(' ');
  const word = /\b(type|interface|input|enum|union|scalar)\b(?!\s*[:(])/g;
  let found = 0;
  while (found < MAX_COUNTED && word.test(text)) found += 1;
  return found;
}
