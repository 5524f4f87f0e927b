// Runs load generators as processes.
// A generator gets its options as JSON in the first argument and prints its result as JSON.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type CoreSet, pinned } from '../machine/cores.ts';

/** Runs a script to its end in a separate process and returns its result. */
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
