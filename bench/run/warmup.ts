// Warms processes up by requests: V8 compiles a function by how often it has run, not by time.
import type { Measurable, Timing } from './measure.ts';

/** After these, a request's cost stays the same. */
const REQUESTS = 20_000;
/** For one that is too slow for so many. */
const MAX_SECONDS = 20;
const MIN_SECONDS = 3;
/** For one that is warmed up by two loads in turn. */
const MIN_ALTERNATING_SECONDS = 10;

/** In words, for the report. */
export const WARM_UP = `a warm-up of ${REQUESTS.toLocaleString('en-US')} requests, for at least ${MIN_SECONDS} s and at most ${MAX_SECONDS} s`;

/** In turns of a second each, until all are warm. */
export async function warmUp(
  all: readonly Measurable[],
  { connections }: Pick<Timing, 'connections'>,
): Promise<void> {
  const answered = new Map<Measurable, number>();
  for (let turn = 0; turn < MAX_SECONDS; turn++)
    for (const measurable of all) {
      const before = answered.get(measurable) ?? 0;
      const least = measurable.warmUp === undefined ? MIN_SECONDS : MIN_ALTERNATING_SECONDS;
      if (turn >= least && before >= REQUESTS) continue;
      const load = measurable.warmUp ?? measurable.measure;
      const { perSecond } = await load({ seconds: 1, connections });
      answered.set(measurable, before + perSecond);
    }
}
