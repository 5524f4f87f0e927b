// Knows whether Redis answers: notices an outage, probes until it is over, and logs each change once.
import type { Log } from '@partner-loyalty/runtime';
import type { Redis } from 'ioredis';

const INTERVAL_MS = 1_000;
const PROBES_PER_CONNECTION = 3;

export type RedisHealth = {
  /** Whether Redis answered when it was last heard of. */
  answers(): boolean;
  /** To be told when a command failed or was not answered in time. */
  lost(error: unknown): void;
  /** Resolves when it is known whether Redis answers, about a second after the start at the latest. */
  known: Promise<void>;
  /** Ends the connection. */
  close(): void;
};

/** Watches a connection. `probe` rejects where Redis does not do its work in time. */
export function monitorRedis(
  redis: Redis,
  probe: () => Promise<unknown>,
  log: Pick<Log, 'info' | 'warn'>,
): RedisHealth {
  let state: 'starting' | 'up' | 'down' | 'closed' = 'starting';
  let upSince = 0;
  let failedProbes = 0;
  let probing = false;
  let connectionError: unknown;
  let timer: NodeJS.Timeout | undefined;
  let resolveKnown = () => {};
  const known = new Promise<void>((resolve) => {
    resolveKnown = resolve;
  });

  function lost(error: unknown): void {
    if (state === 'down' || state === 'closed') return;
    // A hiccup after a good while is over soon: probed at once. A Redis that keeps failing does not make budgets hop to and fro.
    const wait = state === 'up' && performance.now() - upSince > INTERVAL_MS ? 0 : INTERVAL_MS;
    state = 'down';
    log.warn(
      { engine: 'redis', reason: reasonOf(error) },
      'Redis does not answer: each process counts budgets for itself',
    );
    resolveKnown();
    probeIn(wait);
  }

  function found(): void {
    if (state === 'up' || state === 'closed') return;
    if (state === 'down') log.info({ engine: 'redis' }, 'Redis answers again: budgets are shared');
    state = 'up';
    upSince = performance.now();
    failedProbes = 0;
    connectionError = undefined;
    resolveKnown();
  }

  function probeIn(waitMs: number): void {
    clearTimeout(timer);
    if (state !== 'closed') timer = setTimeout(probeNow, waitMs).unref();
  }

  async function probeNow(): Promise<void> {
    if (probing || state === 'up' || state === 'closed') return;
    probing = true;
    try {
      await probe();
      found();
    } catch (error) {
      lost(error);
      failedProbes += 1;
      // A connection whose other end has vanished would never tell.
      if (failedProbes % PROBES_PER_CONNECTION === 0) redis.disconnect(true);
      probeIn(INTERVAL_MS);
    } finally {
      probing = false;
    }
  }

  redis.on('error', (error) => {
    connectionError = error;
  });
  redis.on('close', () => lost(connectionError));
  redis.on('ready', probeNow);
  probeIn(INTERVAL_MS);

  return {
    answers: () => state === 'up',
    lost,
    known,
    close() {
      state = 'closed';
      clearTimeout(timer);
      redis.disconnect();
    },
  };
}

/** The system's or Redis' own word for what happened. The error itself is not for the log: it holds the command, a password included. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'closed';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return /^[A-Z]{3,}\b/.exec(error.message)?.[0] ?? error.name;
}
