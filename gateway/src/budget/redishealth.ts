// Tracks whether a Redis server responds: detects an outage, and probes until it ends.
import { type Loop, startLoop } from '@partner-loyalty/runtime/eventloop/loop.ts';
import type { Redis } from 'ioredis';

const INTERVAL_MS = 1_000;
const PROBES_PER_CONNECTION = 3;
/** The reason of a connection that was closed without an error. */
const NO_CODE = 'closed';

/**
 * `lost` hears of the beginning of an outage, and of each use during it; `found` of its end.
 * `reason` is a code of the system or of Redis.
 */
type RedisHealthListener = { lost(reason: string): void; found(): void };

/** The health of one connection. `close` ends the connection too. */
export class RedisHealth {
  /** Resolves when the first state is known, about a second after the start at the latest. */
  readonly known: Promise<void>;
  private readonly redis: Redis;
  private readonly probes: Loop;
  private readonly listener: RedisHealthListener;
  private state: 'starting' | 'up' | 'down' | 'closed' = 'starting';
  private upSince = 0;
  /** Why uses and probes fail, as far as a code says so. */
  private reason = NO_CODE;
  private failedProbes = 0;
  private connectionError: unknown = undefined;
  private resolveKnown = () => {};

  /** `probe` rejects if Redis does not do its work in time. */
  constructor(redis: Redis, probe: () => Promise<unknown>, listener: RedisHealthListener) {
    this.redis = redis;
    this.listener = listener;
    this.known = new Promise((resolve) => {
      this.resolveKnown = resolve;
    });
    redis.on('error', (error) => {
      this.connectionError = error;
    });
    redis.on('close', () => this.noteFailure(this.connectionError));
    this.probes = startLoop(
      async () => {
        if (this.state === 'up' || this.state === 'closed') return;
        await probe();
        this.reportSuccess();
      },
      { everyMs: INTERVAL_MS, failed: (error) => this.noteFailedProbe(error) },
    );
    redis.on('ready', this.probes.wake);
    if (redis.status === 'ready') this.probes.wake();
  }

  /** Whether Redis responded the last time it was used. */
  isUp(): boolean {
    return this.state === 'up';
  }

  /** Call this if a command failed or timed out. */
  reportFailure(error: unknown): void {
    if (this.state === 'down') this.reportAbsence();
    else this.noteFailure(error);
  }

  /** Call this if no command was sent, because Redis is not up. */
  reportAbsence(): void {
    if (this.state === 'down') this.listener.lost(this.reason);
  }

  close(): void {
    this.state = 'closed';
    void this.probes.stop();
    this.redis.disconnect();
  }

  private noteFailure(error: unknown): void {
    // A probe over a connection that is not open fails without a code, which explains nothing.
    this.reason = codeOf(error) ?? (this.state === 'down' ? this.reason : NO_CODE);
    if (this.state === 'down' || this.state === 'closed') return;
    // After a long time up, a failure is likely a hiccup: probe at once. A Redis that keeps failing
    // is probed at intervals, so that budgets do not alternate between shared and local counts.
    const wasStable = this.isUp() && performance.now() - this.upSince > INTERVAL_MS;
    this.state = 'down';
    this.listener.lost(this.reason);
    this.resolveKnown();
    if (wasStable) this.probes.wake();
  }

  private reportSuccess(): void {
    if (this.state === 'up' || this.state === 'closed') return;
    if (this.state === 'down') this.listener.found();
    this.state = 'up';
    this.upSince = performance.now();
    this.failedProbes = 0;
    this.connectionError = undefined;
    this.resolveKnown();
  }

  private noteFailedProbe(error: unknown): void {
    this.noteFailure(error);
    this.failedProbes += 1;
    // A connection whose other end has vanished reports no error: open a new one.
    if (this.failedProbes % PROBES_PER_CONNECTION === 0) this.redis.disconnect(true);
  }
}

/**
 * The code that the system or Redis gives an error. The error itself must not be logged: it
 * contains the command, and that may contain a password.
 */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return /^[A-Z]{3,}\b/.exec(error.message)?.[0];
}
