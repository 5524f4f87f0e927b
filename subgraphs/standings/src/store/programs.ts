// Caches programs for a few seconds, so that reading a standing is one read of the store.
import { visibleName } from '@partner-loyalty/runtime/input.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { LRUCache } from 'lru-cache';
import type { Program } from '../rules/program.ts';

const MAX_AGE_MS = 5_000;
// Only operators add programs, so this cache cannot be filled by callers and is not among `Caches`.
const MAX_PROGRAMS = 10_000;

/** `load` reads a program from the store; `clock` returns milliseconds. Failures are not cached. */
export function cachePrograms(
  load: (partnerId: string) => MaybePromise<Program | undefined>,
  clock: { now(): number } = performance,
) {
  const cache = new LRUCache<string, { program: Program | undefined }>({
    max: MAX_PROGRAMS,
    ttl: MAX_AGE_MS,
    ttlResolution: 0,
    perf: clock,
  });
  return {
    /** The partner's program, cached or loaded; undefined if it has none. */
    get(partnerId: string): MaybePromise<Program | undefined> {
      const entry = cache.get(partnerId);
      if (entry !== undefined) return entry.program;
      return mapMaybe(load(partnerId), (program) => {
        const shown = shownProgram(program);
        cache.set(partnerId, { program: shown });
        return shown;
      });
    },
    /** Makes the next `get` load the program again. */
    forget: (partnerId: string) => void cache.delete(partnerId),
  };
}

/** The program without what names may no longer have, but stored ones may. */
export function shownProgram(program: Program | undefined): Program | undefined {
  const shown = (tier: Program['tiers'][number]) => ({ ...tier, name: visibleName(tier.name) });
  return program && { ...program, tiers: program.tiers.map(shown) };
}
