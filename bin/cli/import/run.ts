// Runs an import command: opens the file, shows progress and bad lines, prints the summary.
import { open } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { SingleBar } from 'cli-progress';
import type { Output } from '../shell/output.ts';
import { CommandError, oneLine, type Shell } from '../shell/shell.ts';
import { importLines, type RecordKind, type Summary } from './importer.ts';

type Source = { stream: Readable; bytes: number };

const CHUNK_BYTES = 262_144;

/** Opens a file, or stdin for `-`, whose size is unknown: 0 bytes. Rejects if it cannot be read. */
export async function openSource(file: string): Promise<Source> {
  if (file === '-') return { stream: process.stdin, bytes: 0 };
  const handle = await open(file);
  const { size } = await handle.stat();
  return { stream: handle.createReadStream({ highWaterMark: CHUNK_BYTES }), bytes: size };
}

/**
 * Imports a source and prints the summary; names bad lines on stderr by their numbers. SIGINT and
 * SIGTERM end the import after the current batch; a second signal ends it at once. Throws a
 * CommandError if lines were bad or the import was interrupted.
 */
export async function runImport<T>(
  shell: Shell,
  title: string,
  { stream, bytes }: Source,
  kind: RecordKind<T>,
): Promise<void> {
  const startedAt = performance.now();
  const progress = createProgress(shell.stderr, title, bytes);
  const interrupt = interruptOnSignals(progress.stop);
  let lastLine = 0;
  const listener = {
    bad: (line: number, reason: string) => progress.line(`line ${line}: ${reason}`),
    stored: (summary: Summary) => {
      lastLine = summary.lines;
      progress.update(summary.bytes, summary.lines);
    },
  };
  let summary: Summary;
  try {
    const chunks = addAbortSignal(interrupt.signal, stream);
    summary = await importLines(chunks, kind, listener, interrupt.signal);
  } catch (error) {
    throw new CommandError(
      `stopped after line ${lastLine}; import the file again to continue: ${oneLine(error)}`,
      { cause: error },
    );
  } finally {
    progress.stop();
    interrupt.release();
  }
  printSummary(shell, summary, performance.now() - startedAt);
  if (interrupt.signal.aborted)
    throw new CommandError(
      `interrupted after line ${summary.lines}; import the file again to continue`,
    );
  if (summary.bad > 0)
    throw new CommandError(
      summary.bad === 1 ? '1 bad line was skipped' : `${summary.bad} bad lines were skipped`,
    );
}

/**
 * Calls `stop` and aborts its signal on the first SIGINT or SIGTERM. The second one kills the
 * process, since process.exit() would wait for a transaction.
 */
function interruptOnSignals(stop: () => void): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const release = () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  const onSignal = () => {
    release();
    stop();
    controller.abort();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return { signal: controller.signal, release };
}

function printSummary(shell: Shell, summary: Summary, durationMs: number): void {
  const { lines, added, changed, unchanged, bad } = summary;
  shell.print({ added, changed, unchanged, bad });
  if (!shell.json) shell.note(`${lines} lines in ${(durationMs / 1_000).toFixed(1)} s`);
}

/**
 * On a terminal, shows how many lines are done and their rate, and a bar unless `totalBytes` is 0,
 * which stands for an unknown size. Anywhere else, prints only what is passed to `line`.
 */
export function createProgress(stderr: Output, title: string, totalBytes: number) {
  const startedAt = performance.now();
  const withBar = '{bar} {percentage}% | {lines} lines | {rate}/s | {eta_formatted} left';
  const withoutBar = '{lines} lines | {rate}/s';
  const bar = new SingleBar({
    format: `${title} ${totalBytes > 0 ? withBar : withoutBar}`,
    stream: stderr,
    barsize: 24,
    etaBuffer: 50,
  });
  // Does nothing without a terminal, nor do the calls that follow.
  bar.start(totalBytes, 0, { lines: 0, rate: 0 });
  return {
    update(doneBytes: number, lines: number): void {
      const rate = Math.round(lines / ((performance.now() - startedAt) / 1_000));
      bar.update(doneBytes, { lines: lines.toLocaleString('en'), rate: rate.toLocaleString('en') });
    },
    /** Prints a line without tearing the bar. */
    line: (text: string) => void stderr.write(`${stderr.isTTY ? '\r\u001b[K' : ''}${text}\n`),
    stop: () => bar.stop(),
  };
}
