// What of a schema's size needs approval: before it is composed, and by the time that this takes.

import type { Took } from '@partner-loyalty/gateway/graph/graph.ts';
import type { Need } from '@partner-loyalty/gateway/graph/tables.ts';
import type { Step } from './assessment.ts';

const MAX_BYTES = 256 * 1_024;
/** Of all subgraphs of a team; composing 6,000 takes over 30 seconds. */
const MAX_TYPES = 2_000;
/** Of CPU, for a step of any team: half a second is ordinary. */
const MAX_MS = 5_000;
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
  const [texts, former, then] = [own(after), own(before.schemas), own(approved?.schemas ?? {})];
  const found = typesIn(texts);
  // A schema that goes back and is over it alone was approved; what is beside it may be new.
  const wasApproved = approved !== undefined && typesIn([sdl]) > MAX_TYPES;
  if (!wasApproved && found > Math.max(MAX_TYPES, typesIn(former), typesIn(then)))
    whats.push(
      `${name} and what its team has beside it would have ${found} types, over ${MAX_TYPES}`,
    );
  return whats.map((what) => ({ rule: 'size', what, losing: [] }));
}

/**
 * What an operator has to approve once the step has been assessed: later ones would take `ms` of
 * CPU, which is over `most`, and longer than now or, with the tolerance, than what was approved.
 */
export function timeNeeds(step: Step, ms: number, most = MAX_MS): Need[] {
  if (step.kind !== 'subgraph') return [];
  const { before, approved, entry } = step;
  const known = [before.took, approved?.took].flatMap((took) =>
    took === undefined ? [] : [took.ms, (took.approvedMs ?? 0) * TOLERANCE],
  );
  const allowed = Math.max(most, ...known);
  if (ms <= allowed) return [];
  const last = before.took === undefined ? '' : ` (now ${secondsOf(before.took.ms)})`;
  const what = `with this schema of ${entry.name}, each step of every team would take ${secondsOf(ms)} of CPU, over ${secondsOf(allowed)}${last}`;
  return [{ rule: 'size', what, losing: [], ms }];
}

const secondsOf = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** What a version says of later steps. An approval ends when they take much less again. */
export function tookOf(step: Step, ms: number, needs: readonly Need[], most = MAX_MS): Took {
  const isApproved = step.kind === 'content' ? ms > most : needs.some((need) => need.ms);
  if (isApproved) return { ms, approvedMs: ms };
  const { ms: lastMs = most, approvedMs } = step.before.took ?? {};
  // Comparing much that goes away takes long, which later steps may not.
  const took = { ms: step.kind === 'removal' ? Math.min(ms, lastMs) : ms };
  return approvedMs !== undefined && ms * TOLERANCE > most ? { ...took, approvedMs } : took;
}

/** About as many as there are, and never fewer: descriptions may have the words, too. */
export function typesIn(texts: readonly string[]): number {
  const found = texts.join(' ').match(/\b(type|interface|input|enum|union|scalar)\b(?!\s*[:(])/g);
  return found?.length ?? 0;
}
