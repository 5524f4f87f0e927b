// Runs load generators written in JavaScript: options as JSON in the first argument, result as JSON on stdout.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type CoreSet, pinned } from '../machine/cores.ts';

/** Runs a script to its end in a process of its own and returns its result. */
export async function runGenerator<Result>(
  cores: CoreSet,
  script: string,
  options: object,
): Promise<Result> {
  const { command, args } = pinned(cores, process.execPath, [
    '--import',
    'tsx',
    script,
    JSON.stringify(options),
  ]);
  const { stdout } = await promisify(execFile)(command, args);
  return JSON.parse(stdout);
}

/** In a generator's process: calls `generate` with its options and prints the result. */
export async function serveAsGenerator<Options, Result>(
  filename: string,
  generate: (options: Options) => Promise<Result>,
): Promise<void> {
  if (process.argv[1] === filename)
    console.log(JSON.stringify(await generate(JSON.parse(process.argv[2] ?? ''))));
}
