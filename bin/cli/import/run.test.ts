// The progress of an import, on a terminal and anywhere else.
import { PassThrough } from 'node:stream';
import { createProgress } from './run.ts';

function terminal(isTTY: boolean): { stderr: PassThrough & { isTTY?: boolean }; text(): string } {
  const stderr: PassThrough & { isTTY?: boolean } = Object.assign(new PassThrough(), { isTTY });
  return { stderr, text: () => String(stderr.read() ?? '') };
}

test('a terminal shows a bar, lines, their rate and the time left', () => {
  const { stderr, text } = terminal(true);
  const progress = createProgress(stderr, 'members', 1_000);
  progress.update(500, 12_345);
  progress.stop();
  expect(text()).toMatch(/members .*50% \| 12,345 lines \| [\d,]+\/s \| \S+ left/s);
});

test('for stdin, whose size is unknown, it shows lines and their rate', () => {
  const { stderr, text } = terminal(true);
  const progress = createProgress(stderr, 'members', 0);
  progress.update(500, 12_345);
  progress.stop();
  expect(text()).toMatch(/members 12,345 lines \| [\d,]+\/s/);
});

test('a line replaces the bar and is printed whole', () => {
  const { stderr, text } = terminal(true);
  const progress = createProgress(stderr, 'members', 1_000);
  progress.line('line 3: must be JSON');
  progress.stop();
  expect(text()).toContain('\r\u001b[Kline 3: must be JSON\n');
});

test('a file or a pipe gets only the lines', () => {
  const { stderr, text } = terminal(false);
  const progress = createProgress(stderr, 'members', 1_000);
  progress.update(500, 12_345);
  progress.line('line 3: must be JSON');
  progress.stop();
  expect(text()).toBe('line 3: must be JSON\n');
});
