// Runs one import command: the file, the progress, the bad lines and the summary.
import { open } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { importLines, type Kind, type Summary } from './import.ts';
import { createProgress } from './progress.ts';
import { CommandError, oneLine, type Shell } from './shell.ts';

const CHUNK_BYTES = 262_144;

export type Source = { stream: Readable; bytes: number };

/** Opens the file, or stdin for `-`. Rejects where it cannot be read. `bytes` is 0 where the size is not known. */
export async function openSource(file: string): Promise<Source> {
  if (file === '-') return { stream: process.stdin, bytes: 0 };
  const handle = await open(file);
  const { size } = await handle.stat();
  return { stream: handle.createReadStream({ highWaterMark: CHUNK_BYTES }), bytes: size };
}

/**
 * Imports the source and prints the summary. Bad lines are named on stderr by their number. SIGINT and SIGTERM end it after the current batch, a second
 * one at once. Throws a CommandError where lines were bad or the import was interrupted.
 */
export async function importSource<T>(
  shell: Shell,
  what: string,
  source: Source,
  kind: Kind<T>,
): Promise<void> {
  const startedAt = performance.now();
  const progress = createProgress(shell.stderr, what, source.bytes);
  const interruption = new AbortController();
  const interrupt = () => {
    if (interruption.signal.aborted) {
      progress.stop();
      process.exit(1);
    }
    interruption.abort();
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  let last = 0;
  let summary: Summary;
  try {
    const listener = {
      // A reason may quote a property's name out of the file, which is not to steer the terminal.
      bad: (line: number, reason: string) =>
        progress.line(`line ${line}: ${reason.replace(/\p{C}/gu, '?')}`),
      done: ({ lines, bytes }: Summary) => {
        last = lines;
        progress.update(bytes, lines);
      },
    };
    summary = await importLines(
      addAbortSignal(interruption.signal, source.stream),
      kind,
      listener,
      interruption.signal,
    );
  } catch (error) {
    throw new CommandError(
      `stopped after line ${last}, import the file again to go on: ${oneLine(error)}`,
      { cause: error },
    );
  } finally {
    progress.stop();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
  const { lines, added, changed, unchanged, bad } = summary;
  shell.print({ added, changed, unchanged, bad });
  if (!shell.json)
    shell.note(`${lines} lines in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  if (interruption.signal.aborted)
    throw new CommandError(`interrupted after line ${lines}, import the file again to go on`);
  if (bad > 0)
    throw new CommandError(
      bad === 1 ? '1 bad line was left out' : `${bad} bad lines were left out`,
    );
}
