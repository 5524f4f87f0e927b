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
import { startLoop } from '@partner-loyalty/runtime/eventloop/loop.ts';
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
export function openAuditFile(path: string, observe: Observe, maxBytes = MAX_BYTES): AuditSink {
  try {
    const fd = openSync(path, FLAGS, PRIVATE_FILE);
    if (!fstatSync(fd).isFile()) throw new Error('it is not a regular file');
    return appendTo(path, fd, observe, maxBytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`AUDIT_LOG: ${path} cannot be opened: ${why}`, { cause: error });
  }
}

type Observe = { log: Pick<Log, 'outage' | 'recovered'>; metrics: Pick<Metrics, 'audit'> };

function appendTo(
  path: string,
  opened: number,
  { log, metrics }: Observe,
  maxBytes: number,
): AuditSink {
  let fd: number | undefined = opened;
  const lines: string[] = [];
  let length = 0;
  let isFailing = false;
  /** Undefined unless lines are being written. */
  let writingSince: number | undefined;
  const loop = startLoop(writeLines, {
    everyMs: INTERVAL_MS,
    failed,
    recovered() {
      log.recovered({}, 'the audit log is written again');
      isFailing = false;
    },
  });
  process.on('SIGHUP', loop.wake).on('exit', writeAtExit);

  function writeAtExit(): void {
    // While the disk hangs, waiting for it would keep the process from ending.
    if (writingSince !== undefined || fd === undefined) return;
    try {
      const { size } = fstatSync(fd);
      const last = Buffer.of(LINE_FEED);
      if (size > 0) readSync(fd, last, 0, 1, size - 1);
      writeSync(fd, `${startAfter(last)}${lines.join('')}`);
    } catch {
      // The lines are lost with the process.
    }
  }

  async function writeLines(): Promise<void> {
    if (lines.length === 0) return;
    writingSince = performance.now();
    try {
      await followPath();
      while (lines.length > 0) await writeBatch();
    } finally {
      writingSince = undefined;
    }
  }

  function failed(err: unknown): void {
    metrics.audit('failed', 1);
    // Cast: errors of the file system have a code, which says enough.
    const { code } = err as { code?: string };
    log.outage(code === undefined ? { err } : { reason: code }, 'the audit log cannot be written');
    isFailing = true;
  }

  /** Opens the path again if it no longer leads to the file: it was renamed or removed. */
  async function followPath(): Promise<void> {
    const former = fd;
    if (former !== undefined) {
      const [there, here] = await Promise.all([
        statAsync(path).catch(() => undefined),
        fstatAsync(former),
      ]);
      if (there?.ino === here.ino && there.dev === here.dev) return;
    }
    const next = await openAsync(path, FLAGS, PRIVATE_FILE);
    fd = next;
    if (former !== undefined) await closeAsync(former);
    if (!(await fstatAsync(next)).isFile()) {
      fd = undefined;
      await closeAsync(next);
      throw new Error('it is not a regular file');
    }
  }

  async function writeBatch(): Promise<void> {
    if (fd === undefined) throw new Error('the file is not open');
    const current = fd;
    const batch = firstOf(lines);
    let start = await startIn(current);
    // Another process may be in the middle of a write, which looks like a torn line until it ends.
    if (start !== '') start = await pause(TORN_MS).then(() => startIn(current));
    const bytes = Buffer.from(`${start}${batch.join('')}`);
    const { bytesWritten } = await writeAsync(current, bytes);
    const isWhole = bytesWritten === bytes.length;
    const written = isWhole ? batch.length : linesIn(bytes.subarray(start.length, bytesWritten));
    for (const line of lines.splice(0, written)) length -= line.length;
    metrics.audit('written', written);
    // The next write says more, if the disk is still full then.
    if (!isWhole) throw Object.assign(new Error('a write was cut short'), { code: 'ENOSPC' });
  }

  return {
    write(line) {
      if (length + line.length > maxBytes) return metrics.audit('lost', 1);
      lines.push(line);
      length += line.length;
      if (length >= EAGER_BYTES && !isFailing) loop.wake();
    },
    state() {
      const isHung = writingSince !== undefined && performance.now() - writingSince > HUNG_MS;
      return isFailing || isHung ? 'degraded' : 'up';
    },
    async close() {
      process.off('SIGHUP', loop.wake);
      const written = loop.stop().then(loop.run);
      await withTimeout(written, CLOSE_MS, 'it hangs').catch(() => {});
      process.off('exit', writeAtExit);
      if (lines.length > 0) metrics.audit('lost', lines.length);
      if (fd !== undefined && writingSince === undefined) await closeAsync(fd);
      fd = undefined;
      if (lines.length > 0) throw new Error(`${lines.length} lines could not be written`);
    },
  };
}

function firstOf(lines: readonly string[]): string[] {
  let length = 0;
  const end = lines.findIndex((line) => {
    length += line.length;
    return length > MAX_BATCH_BYTES;
  });
  return end === -1 ? [...lines] : lines.slice(0, Math.max(end, 1));
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
