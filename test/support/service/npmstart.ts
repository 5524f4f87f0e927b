// Starts the service as its user does, with npm start.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bareEnv, type Env } from './loyalty.ts';

export type Service = {
  /** The URL of /graphql that it printed. */
  endpoint: string;
  /** All that it has printed. */
  output(): string;
  /**
   * Sends npm a signal and waits for its end. Resolves with its exit code, or null if a signal
   * ended it.
   */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Kills npm and all its descendants, unless they have ended already. */
  kill(): Promise<void>;
};

const START_TIMEOUT_MS = 90_000;

/**
 * Starts everything in one process on free ports. Resolves when it prints its URL. Rejects with its
 * output if it ends before that.
 */
export async function startService(env: Env): Promise<Service> {
  const child = spawn('npm', ['start', '--silent'], {
    cwd: join(import.meta.dirname, '../../..'),
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
