// Which Redis servers do not respond, and when they do again.
import { type Loop, startLoop } from '@partner-loyalty/runtime/eventloop/loop.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';

export type RedisLog = Pick<Log, 'outage' | 'recovered'>;

/** The address of a node of a cluster; undefined for a server alone, or while no node is known. */
export type ServerName = string | undefined;

/** Rejects if the server does not do its work in time. */
type Attempt = () => Promise<unknown>;

const INTERVAL_MS = 1_000;
/** The reason of a connection that was closed without an error. */
const NO_CODE = 'closed';

/** Servers that failed are asked once a second, so that requests need not wait for them. */
export class Outages {
  private readonly log: RedisLog;
  private readonly away = new Map<ServerName, Attempt>();
  /** Why servers failed last, as far as a code says so. */
  private readonly reasons = new Map<ServerName, string>();
  private readonly attempts: Loop;

  constructor(log: RedisLog) {
    this.log = log;
    this.attempts = startLoop(() => this.tryAll(), { everyMs: INTERVAL_MS, failed() {} });
  }

  any(): boolean {
    return this.away.size > 0;
  }

  /** Call this before a use, which is logged if it is left out. */
  isAway(server: ServerName): boolean {
    const isAway = this.away.has(server);
    if (isAway) this.report(server);
    return isAway;
  }

  /** An error of a connection, which explains the next outage. */
  blame(server: ServerName, error: unknown): void {
    const code = codeOf(error);
    if (code !== undefined) this.reasons.set(server, code);
  }

  /** Call this if a server failed. The outage ends when `attempt` succeeds. */
  begin(server: ServerName, error: unknown, attempt: Attempt): void {
    const isNew = !this.away.has(server);
    this.away.set(server, attempt);
    this.blame(server, error);
    if (isNew) this.report(server);
  }

  end(server: ServerName): void {
    this.reasons.delete(server);
    if (this.away.delete(server))
      this.log.recovered(fieldsOf(server), 'Redis responds again: budgets are shared');
  }

  close(): void {
    void this.attempts.stop();
  }

  private report(server: ServerName): void {
    const reason = this.reasons.get(server) ?? NO_CODE;
    this.log.outage(
      { ...fieldsOf(server), reason },
      'Redis does not respond: each process counts budgets on its own',
    );
  }

  private async tryAll(): Promise<void> {
    const tries = Array.from(this.away, ([server, attempt]) =>
      attempt().then(
        () => this.end(server),
        (error) => this.blame(server, error),
      ),
    );
    await Promise.all(tries);
  }
}

function fieldsOf(node: ServerName) {
  return { engine: 'redis', ...(node !== undefined && { node }) };
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
