// Starts the service with all it prints, with npm start as its user does, or faster without npm.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { programArgs, ROOT } from '../programs/programs.ts';
import { bareEnv, type Env } from './loyalty.ts';

export type Service = {
  /** The URL of /graphql that it printed. */
  endpoint: string;
  /** All that it has printed. */
  output(): string;
  /**
   * Sends npm, or the service without it, a signal and waits for its end. Resolves with its exit
   * code, or null if a signal ended it.
   */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Kills it and all its descendants, unless they have ended already. */
  kill(): Promise<void>;
};

const START_TIMEOUT_MS = 90_000;

/**
 * Starts everything in one process on free ports. Resolves when it prints its URL. Rejects with its
 * output if it ends before that.
 */
export async function startService(env: Env, withNpm = true): Promise<Service> {
  const [command = '', ...args] = withNpm
    ? ['npm', 'start', '--silent']
    : [process.execPath, ...programArgs('bin/start.ts')];
  const child = spawn(command, args, {
    cwd: ROOT,
    detached: true, // A process group of its own lets kill() reach all descendants.
    env: { ...bareEnv(), PORT: '0', ADMIN_PORT: '0', ...env },
  });
  const ended = once(child, 'close');
  const kill = async () => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, 'SIGKILL');
    await ended;
  };
  let output = '';
  const endpoint = await new Promise<string>((resolve, reject) => {
    // The kill closes the child, which rejects below.
    const timer = setTimeout(kill, START_TIMEOUT_MS);
    const read = (part: string) => {
      output += part;
      const [, found] = /(http:\S+\/graphql)\n/.exec(output) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    child.once('close', () => {
      clearTimeout(timer);
      reject(new Error(`the service did not start: ${output}`));
    });
  });
  return {
    endpoint,
    output: () => output,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const [code] = await ended;
      return code;
    },
    kill,
  };
}
