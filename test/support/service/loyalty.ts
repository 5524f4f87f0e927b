// Runs the operator's command for tests, in this process for speed or as a child process.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { programArgs } from '../programs/programs.ts';

/** Settings, as environment variables. */
export type Env = Record<string, string>;

export type Ran = { code: number | null; stdout: string; stderr: string };

/** Runs the command in this process with the settings in `env` only. */
export async function loyalty(env: Env, ...args: string[]): Promise<Ran> {
  // They load the whole gateway, which takes a second, and many tests only start processes.
  const { runCommand } = await import('../../../bin/cli/command.ts');
  const { createShell } = await import('../../../bin/cli/shell/shell.ts');
  const ran: Ran = { code: 0, stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk, _encoding, done) {
        ran[name] += chunk;
        done();
      },
    });
  ran.code = await runCommand(
    args,
    createShell(sink('stdout'), sink('stderr'), () => readSettings(env, 'all')),
  );
  return ran;
}

/** The objects that a command prints with `--json`. Throws its error output if it fails. */
export async function loyaltyJson(env: Env, ...args: string[]): Promise<Record<string, unknown>[]> {
  const { code, stdout, stderr } = await loyalty(env, ...args, '--json');
  if (code !== 0) throw new Error(stderr);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Starts the command as a process. */
export function spawnLoyalty(
  env: Env,
  ...args: string[]
): { child: ChildProcessWithoutNullStreams; ran: Promise<Ran> } {
  const child = spawn(process.execPath, [...programArgs('bin/loyalty.ts'), ...args], {
    env: { ...bareEnv(), ...env },
  });
  const ran = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
    ([[code], stdout, stderr]) => ({
      code,
      stdout,
      stderr,
    }),
  );
  return { child, ran };
}

/** The part of this process's environment that contains no setting of the project. */
export function bareEnv(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, TMPDIR, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}
