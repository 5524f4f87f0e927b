// Keeps a number of workers running: starts them, replaces those that end, and stops them.
import cluster, { type Worker } from 'node:cluster';
import type { Log } from '../observe/log.ts';
import { Backoff } from './backoff.ts';
import { declineWhenDead } from './handover.ts';
import { isWorkerEvent, type WorkerResponse } from './messages.ts';

type PoolOptions = {
  count: number;
  log: Log;
  /** Receives the workers' responses to queries. */
  onResponse: (response: WorkerResponse) => void;
  /** Receives each worker that has ended. */
  onExit: (worker: Worker) => void;
};

/** A worker that is stopping accepts no connections any more, but did start. */
type Member = { worker: Worker; startedAt: number; listens: boolean; stopping: boolean };

/** Workers of this process. Any that still run when the process exits are killed. */
export class WorkerPool {
  /** Rejects if no worker can be started, at first or later. Never resolves. */
  readonly failed: Promise<never>;
  private readonly options: PoolOptions;
  private readonly members = new Set<Member>();
  private readonly backoff = new Backoff();
  private port = 0;
  private closing = false;
  private clean = true;
  private giveUp: (reason: Error) => void = () => {};
  private changed: () => void = () => {};

  constructor(options: PoolOptions) {
    this.options = options;
    this.failed = new Promise((_, reject) => {
      this.giveUp = reject;
    });
    this.failed.catch(() => {}); // It may reject while nobody waits for it.
    process.once('exit', () => {
      for (const { worker } of this.members) worker.process.kill('SIGKILL');
    });
  }

  /** Starts the first worker, then the others. Resolves with the port when all listen. */
  async start(): Promise<number> {
    const { count } = this.options;
    this.fork();
    await this.until(() => this.listening().length > 0);
    for (let started = 1; started < count; started++) this.fork();
    await this.until(() => this.listening().length === count);
    return this.port;
  }

  /** The workers that listen at the moment. */
  listening(): Worker[] {
    return [...this.members]
      .filter(({ listens, stopping }) => listens && !stopping)
      .map(({ worker }) => worker);
  }

  /** Resolves when the workers have finished their requests and ended. Rejects if one failed to. */
  async close(): Promise<void> {
    this.closing = true;
    // A signal also reaches workers that do not receive messages yet.
    for (const { worker } of this.members) worker.process.kill('SIGTERM');
    await this.until(() => this.members.size === 0);
    if (!this.clean) throw new Error('a worker did not end well');
  }

  private fork(): void {
    if (this.closing) return;
    const worker = cluster.fork();
    const member: Member = {
      worker,
      startedAt: performance.now(),
      listens: false,
      stopping: false,
    };
    this.members.add(member);
    declineWhenDead(worker, () => this.listening().some((other) => other !== worker));
    worker.on('error', () => {}); // A message to a worker that has just ended.
    worker.on('message', (message: unknown) => this.receive(member, message));
    if (worker.process.pid === undefined) setImmediate(() => this.ended(member, null, null));
    else worker.once('exit', (code, signal) => this.ended(member, code, signal));
  }

  private receive(member: Member, message: unknown): void {
    if (!isWorkerEvent(message)) return;
    if (message.event === 'listening') {
      member.listens = true;
      this.port = message.port;
      this.backoff.started();
      this.changed();
    } else if (message.event === 'stopping') {
      member.stopping = true;
    } else {
      this.options.onResponse(message);
    }
  }

  private ended(member: Member, code: number | null, signal: string | null): void {
    this.members.delete(member);
    this.options.onExit(member.worker);
    if (!this.closing) this.replace(member, signal ?? `exit code ${code}`);
    else if (member.listens && code !== 0) this.clean = false;
    this.changed();
  }

  private replace({ worker, startedAt, listens }: Member, reason: string): void {
    this.options.log.warn({ worker: worker.id, reason }, 'a worker ended');
    this.backoff.ended(listens, performance.now() - startedAt);
    if (this.listening().length === 0 && this.backoff.hopeless())
      this.giveUp(new Error('no worker can be started'));
    else setTimeout(() => this.fork(), this.backoff.delayMs());
  }

  /**
   * Resolves when `reached` returns true, which is checked whenever a worker starts to listen or
   * ends. Rejects as `failed` does.
   */
  private until(reached: () => boolean): Promise<void> {
    const met = new Promise<void>((resolve) => {
      this.changed = () => reached() && resolve();
      this.changed();
    });
    return Promise.race([met, this.failed]);
  }
}
