// The progress of an import, on a terminal and elsewhere.
import { PassThrough } from 'node:stream';
import { createProgress } from './progress.ts';

function terminal(isTTY: boolean): { stderr: PassThrough & { isTTY?: boolean }; text(): string } {
  const stderr: PassThrough & { isTTY?: boolean } = Object.assign(new PassThrough(), { isTTY });
  return { stderr, text: () => String(stderr.read() ?? '') };
}

test('on a terminal: share, lines, rate and time left', () => {
  const { stderr, text } = terminal(true);
  const progress = createProgress(stderr, 'members', 1_000);
  progress.update(500, 12_345);
  progress.stop();
  expect(text()).toMatch(/members .*50% \| 12,345 lines \| [\d,]+\/s \| \S+ left/s);
});

test('from stdin, whose size is not known: lines and rate', () => {
  const { stderr, text } = terminal(true);
  const progress = createProgress(stderr, 'members', 0);
  progress.update(500, 12_345);
  progress.stop();
  expect(text()).toMatch(/members 12,345 lines \| [\d,]+\/s/);
});

test('a line is printed whole, in place of the bar', () => {
  const { stderr, text } = terminal(true);
  const progress = createProgress(stderr, 'members', 1_000);
  progress.line('line 3: not JSON');
  progress.stop();
  expect(text()).toContain('\r\u001b[Kline 3: not JSON\n');
});

test('in a file or pipe there are the lines alone', () => {
  const { stderr, text } = terminal(false);
  const progress = createProgress(stderr, 'members', 1_000);
  progress.update(500, 12_345);
  progress.line('line 3: not JSON');
  progress.stop();
  expect(text()).toBe('line 3: not JSON\n');
});
