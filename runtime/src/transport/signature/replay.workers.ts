// Remembers used signatures in the primary, so that each is valid once across all workers.
import { createRelay, serveRelay } from '../../process/relay.ts';
import { createReplayGuard, isFresh, type ReplayGuard } from './replay.ts';

type Use = { timeMs: number; signature: string };

const NAME = 'signatures';

/** Answers the workers' questions for the lifetime of the primary, in which it is called. */
export function serveReplayGuard(): Promise<void> {
  const guard = createReplayGuard();
  return serveRelay(NAME, ({ timeMs, signature }: Use) => guard.firstUse(timeMs, signature));
}

/**
 * The guard of a worker, which asks the primary once for each request. Without a response from the
 * primary, no request is accepted.
 */
export function createWorkerReplayGuard(): ReplayGuard {
  const isFirst = createRelay<Use, boolean>(NAME);
  return {
    fresh: (timeMs) => isFresh(timeMs, Date.now()),
    firstUse: (timeMs, signature) => isFirst({ timeMs, signature }).catch(() => false),
  };
}
