// Starts the service for tests as its user does, with npm start, and asks it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bareEnv, type Env } from './loyalty.ts';

export type Service = {
  /** The address of /graphql that it printed. */
  endpoint: string;
  /** All that it wrote to stdout before it was ready and since. */
  output(): string;
  /** Sends a signal to npm and waits for the end; the exit code, or null where a signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Ends npm and all that it started, at once, if that has not happened yet. */
  kill(): Promise<void>;
};

const START_TIMEOUT_MS = 90_000;

/** Starts everything in one process, on free ports. Resolves when it says where it is. Rejects with what it wrote where it ends before. */
export async function startService(env: Env): Promise<Service> {
  const child = spawn('npm', ['start', '--silent'], {
    cwd: join(import.meta.dirname, '../../..'),
    detached: true, // A process group of its own, so that kill() reaches all of it.
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
    const timer = setTimeout(kill, START_TIMEOUT_MS); // Which closes the child, and so rejects.
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
