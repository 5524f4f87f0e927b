// Processes of tests that are killed at a random point.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { programArgs } from './programs.ts';

/**
 * Starts a program, and kills it once it has printed up to 100 lines and up to `lineMs` more have
 * passed. Resolves with its lines, without one that was cut off.
 */
export async function runUntilKilled(
  program: Parameters<typeof programArgs>[0],
  args: readonly string[],
  { random, lineMs }: { random: () => number; lineMs: number },
): Promise<string[]> {
  const child = spawn(process.execPath, [...programArgs(program), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let [text, left] = ['', 1 + random() * 100];
  const late = random() * lineMs;
  for await (const part of child.stdout.setEncoding('utf8')) {
    text += part;
    if (left > 0 && text.split('\n').length > left) {
      left = 0;
      void pause(late).then(() => child.kill('SIGKILL'));
    }
  }
  expect(await exited).toEqual([null, 'SIGKILL']);
  return text.split('\n').slice(0, -1);
}
