// Keeps programs for a few seconds, so that a read of a standing is one read of the store.
import type { MaybePromise } from '@partner-loyalty/runtime';
import { LRUCache } from 'lru-cache';
import type { Program } from './store.ts';

/** How old a program may be that is answered, in milliseconds. */
const KEPT_MS = 5_000;
const MAX_PROGRAMS = 10_000;

export type Programs = {
  /** The partner's program, kept or loaded; undefined where it has none. */
  get(partnerId: string): MaybePromise<Program | undefined>;
  /** Has the next `get` load the program anew. */
  forget(partnerId: string): void;
};

/** `load` reads a program from the store. `clock` tells milliseconds. Failures are not kept. */
export function keepPrograms(
  load: (partnerId: string) => MaybePromise<Program | undefined>,
  clock: { now(): number } = performance,
): Programs {
  const kept = new LRUCache<string, { program: Program | undefined }>({
    max: MAX_PROGRAMS,
    ttl: KEPT_MS,
    ttlResolution: 0,
    perf: clock,
  });
  const keep = (partnerId: string, program: Program | undefined) => {
    kept.set(partnerId, { program });
    return program;
  };
  return {
    get(partnerId) {
      const found = kept.get(partnerId);
      if (found !== undefined) return found.program;
      const loaded = load(partnerId);
      return loaded instanceof Promise
        ? loaded.then((program) => keep(partnerId, program))
        : keep(partnerId, loaded);
    },
    forget: (partnerId) => void kept.delete(partnerId),
  };
}
