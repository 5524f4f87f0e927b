// Shows the progress of an import on a terminal: a bar with the rate and the time left.
import { SingleBar } from 'cli-progress';
import type { Terminal } from '../shell/shell.ts';

export type Progress = {
  update(doneBytes: number, lines: number): void;
  /** Prints a line without tearing the bar. */
  line(text: string): void;
  stop(): void;
};

/**
 * On a terminal, shows how many lines are done and their rate, and a bar unless `totalBytes` is 0,
 * which stands for an unknown size. Anywhere else, prints only what is passed to `line`.
 */
export function createProgress(stderr: Terminal, title: string, totalBytes: number): Progress {
  if (!stderr.isTTY)
    return {
      update: () => undefined,
      line: (text) => void stderr.write(`${text}\n`),
      stop: () => undefined,
    };
  const startedAt = performance.now();
  const withBar = '{bar} {percentage}% | {lines} lines | {rate}/s | {eta_formatted} left';
  const withoutBar = '{lines} lines | {rate}/s';
  const bar = new SingleBar({
    format: `${title} ${totalBytes > 0 ? withBar : withoutBar}`,
    stream: stderr,
    barsize: 24,
    etaBuffer: 50,
  });
  bar.start(totalBytes, 0, { lines: 0, rate: 0 });
  return {
    update(doneBytes, lines) {
      const rate = Math.round(lines / ((performance.now() - startedAt) / 1_000));
      bar.update(doneBytes, { lines: lines.toLocaleString('en'), rate: rate.toLocaleString('en') });
    },
    line: (text) => void stderr.write(`\r\u001b[K${text}\n`),
    stop: () => bar.stop(),
  };
}
