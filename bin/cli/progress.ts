// Shows how an import goes: a bar with rate and time left on a terminal, nothing elsewhere.
import { SingleBar } from 'cli-progress';
import type { Terminal } from './shell.ts';

export type Progress = {
  /** `done` and the total are in bytes. */
  update(done: number, lines: number): void;
  /** Prints a line without tearing the bar. */
  line(text: string): void;
  stop(): void;
};

/** `totalBytes` is 0 where it is not known, as with stdin; lines and their rate are shown all the same. */
export function createProgress(stderr: Terminal, what: string, totalBytes: number): Progress {
  if (!stderr.isTTY)
    return {
      update: () => undefined,
      line: (text) => void stderr.write(`${text}\n`),
      stop: () => undefined,
    };
  const startedAt = performance.now();
  const known = '{bar} {percentage}% | {lines} lines | {rate}/s | {eta_formatted} left';
  const bar = new SingleBar({
    format: `${what} ${totalBytes > 0 ? known : '{lines} lines | {rate}/s'}`,
    stream: stderr,
    barsize: 24,
    etaBuffer: 50,
  });
  bar.start(totalBytes, 0, { lines: 0, rate: 0 });
  return {
    update(done, lines) {
      const rate = Math.round(lines / ((performance.now() - startedAt) / 1_000));
      bar.update(done, { lines: lines.toLocaleString('en'), rate: rate.toLocaleString('en') });
    },
    line: (text) => void stderr.write(`\r\u001b[K${text}\n`),
    stop: () => bar.stop(),
  };
}
