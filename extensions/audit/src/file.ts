// The audit log in a file: appends lines in the background, and follows the path after a rename.
import {
  close,
  constants,
  fstat,
  fstatSync,
  open,
  openSync,
  read,
  readSync,
  stat,
  write,
  writeSync,
} from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Loop, startLoop } from '@partner-loyalty/runtime/eventloop/loop.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { DependencyState } from '@partner-loyalty/runtime/process/readiness.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';

const INTERVAL_MS = 1_000;
/** So many bytes are written without waiting for the second to end. */
const EAGER_BYTES = 65_536;
const MAX_BATCH_BYTES = 1_048_576;
/** Lines beyond this are lost: the disk hangs or is full. */
const MAX_BYTES = 16 * 1_048_576;
/** A write that takes longer counts as failing. */
const HUNG_MS = 5_000;
const CLOSE_MS = 5_000;

// It is read as well, to learn whether its last line is whole.
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
const PRIVATE_FILE = 0o600;

// Callbacks of `fs` instead of file handles: a handle cannot be written to when the process exits.
const openAsync = promisify(open);
const closeAsync = promisify(close);
const statAsync = promisify(stat);
const fstatAsync = promisify(fstat);
const readAsync = promisify(read);
const writeAsync = promisify(write);

/**
 * Opens the file, and creates it only for its owner. Several processes may append to it: each
 * write is one call with whole lines. Throws if it cannot be opened or is not a regular file.
 */
export function openAuditFile(
  path: string,
  observe: { log: Pick<Log, 'outage' | 'recovered'>; metrics: Pick<Metrics, 'audit'> },
  maxBytes = MAX_BYTES,
): AuditSink {
  try {
    const fd = openSync(path, FLAGS, PRIVATE_FILE);
    if (!fstatSync(fd).isFile()) throw new Error('it is not a regular file');
    return new AuditFile(path, fd, observe, maxBytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`AUDIT_LOG: ${path} cannot be opened: ${why}`, { cause: error });
  }
}

class AuditFile implements AuditSink {
  private readonly path: string;
  private readonly observe: Parameters<typeof openAuditFile>[1];
  private readonly maxBytes: number;
  private readonly loop: Loop;
  private fd: number | undefined;
  private lines: string[] = [];
  private length = 0;
  private isFailing = false;
  /** Undefined unless lines are being written. */
  private writingSince: number | undefined;
  private readonly writeAtExit = () => {
    // While the disk hangs, waiting for it would keep the process from ending.
    if (this.writingSince !== undefined || this.fd === undefined) return;
    try {
      const { size } = fstatSync(this.fd);
      const last = Buffer.of(LINE_FEED);
      if (size > 0) readSync(this.fd, last, 0, 1, size - 1);
      writeSync(this.fd, `${startAfter(last)}${this.lines.join('')}`);
    } catch {
      // The lines are lost with the process.
    }
  };

  constructor(
    path: string,
    fd: number,
    observe: Parameters<typeof openAuditFile>[1],
    maxBytes: number,
  ) {
    this.path = path;
    this.fd = fd;
    this.observe = observe;
    this.maxBytes = maxBytes;
    this.loop = startLoop(() => this.writeLines(), {
      everyMs: INTERVAL_MS,
      failed: (error) => this.fail(error),
      recovered: () => this.recover(),
    });
    process.on('SIGHUP', this.loop.wake).on('exit', this.writeAtExit);
  }

  write(line: string): void {
    if (this.length + line.length > this.maxBytes) {
      this.observe.metrics.audit('lost', 1);
      return;
    }
    this.lines.push(line);
    this.length += line.length;
    if (this.length >= EAGER_BYTES && !this.isFailing) this.loop.wake();
  }

  state() {
    const { writingSince } = this;
    const isHung = writingSince !== undefined && performance.now() - writingSince > HUNG_MS;
    return this.isFailing || isHung ? 'degraded' : 'up';
  }

  async close(): Promise<void> {
    process.off('SIGHUP', this.loop.wake);
    const written = this.loop.stop().then(this.loop.run);
    await withTimeout(written, CLOSE_MS, 'it hangs').catch(() => {});
    process.off('exit', this.writeAtExit);
    if (this.lines.length > 0) this.observe.metrics.audit('lost', this.lines.length);
    if (this.fd !== undefined && this.writingSince === undefined) await closeAsync(this.fd);
    this.fd = undefined;
    if (this.lines.length > 0) throw new Error(`${this.lines.length} lines could not be written`);
  }

  private async writeLines(): Promise<void> {
    if (this.lines.length === 0) return;
    this.writingSince = performance.now();
    try {
      await this.followPath();
      while (this.lines.length > 0) await this.writeBatch();
    } finally {
      this.writingSince = undefined;
    }
  }

  private fail(err: unknown): void {
    const { log, metrics } = this.observe;
    metrics.audit('failed', 1);
    // Cast: errors of the file system have a code, which says enough.
    const { code } = err as { code?: string };
    log.outage(code === undefined ? { err } : { reason: code }, 'the audit log cannot be written');
    this.isFailing = true;
  }

  private recover(): void {
    this.observe.log.recovered({}, 'the audit log is written again');
    this.isFailing = false;
  }

  /** Opens the path again if it no longer leads to the file: it was renamed or removed. */
  private async followPath(): Promise<void> {
    const { fd } = this;
    if (fd !== undefined) {
      const [there, here] = await Promise.all([
        statAsync(this.path).catch(() => undefined),
        fstatAsync(fd),
      ]);
      if (there?.ino === here.ino && there.dev === here.dev) return;
    }
    const next = await openAsync(this.path, FLAGS, PRIVATE_FILE);
    this.fd = next;
    if (fd !== undefined) await closeAsync(fd);
    if (!(await fstatAsync(next)).isFile()) {
      this.fd = undefined;
      await closeAsync(next);
      throw new Error('it is not a regular file');
    }
  }

  private async writeBatch(): Promise<void> {
    const { fd } = this;
    if (fd === undefined) throw new Error('the file is not open');
    const batch = this.nextBatch();
    let start = await startIn(fd);
    // Another process may be in the middle of a write, which looks like a torn line until it ends.
    if (start !== '') start = await pause(TORN_MS).then(() => startIn(fd));
    const bytes = Buffer.from(`${start}${batch.join('')}`);
    const { bytesWritten } = await writeAsync(fd, bytes);
    const isWhole = bytesWritten === bytes.length;
    const written = isWhole ? batch.length : linesIn(bytes.subarray(start.length, bytesWritten));
    for (const line of this.lines.splice(0, written)) this.length -= line.length;
    this.observe.metrics.audit('written', written);
    // The next write says more, if the disk is still full then.
    if (!isWhole) throw Object.assign(new Error('a write was cut short'), { code: 'ENOSPC' });
  }

  private nextBatch(): string[] {
    let length = 0;
    const end = this.lines.findIndex((line) => {
      length += line.length;
      return length > MAX_BATCH_BYTES;
    });
    return end === -1 ? [...this.lines] : this.lines.slice(0, Math.max(end, 1));
  }
}

const LINE_FEED = 10;
const TORN_MS = 100;

async function startIn(fd: number): Promise<string> {
  const last = Buffer.of(LINE_FEED);
  const { size } = await fstatAsync(fd);
  if (size > 0) await readAsync(fd, last, 0, 1, size - 1);
  return startAfter(last);
}

/** A write begins a line: the last one is torn if a process was killed or a disk was full. */
function startAfter(last: Buffer): string {
  return last[0] === LINE_FEED ? '' : '\n';
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (const byte of bytes) if (byte === LINE_FEED) lines += 1;
  return lines;
}

/** Implemented by file.ts, and by audit.ts on stdout. */
export type AuditSink = {
  /** Never waits and never throws. */
  write(line: string): void;
  /** `degraded` if lines cannot be written. */
  state(): DependencyState;
  /** Writes what is left. Nothing can be written afterwards. */
  close(): Promise<void>;
};
