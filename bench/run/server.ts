// Starts server processes on their cores and waits until they are ready.
import { freePort, type ServerProcess, startProcess } from '../../test/support/servers/process.ts';
import { MEMORY_MEMBERS } from '../dataset/population.ts';
import type { Target } from '../dataset/requests.ts';
import { type CoreSet, type NodeVersion, pinned } from '../machine/machine.ts';
import { type Usage, usageOf } from '../machine/usage.ts';
import { checkFirstAnswer } from './answers.ts';
import { benchServer, ROOT } from './shipped.ts';

/** A started process that answers look-ups. */
export type Server = Target & {
  /** What it and its children have used since they started. */
  usage(): Usage;
  /** From the start of the process to its first correct answer. */
  readyMs: number;
  stop(): Promise<unknown>;
};

export type Launch = {
  /** The checkout to run in; the working tree by default. */
  root?: string;
  cores?: CoreSet;
  /** What follows `node`. */
  args: string[];
  env?: Record<string, string>;
};

export type ServerLaunch = Omit<Launch, 'args' | 'env'> & {
  /** What follows `node`, for a server that listens on `port`. */
  args: (port: number) => string[];
  env?: (port: number) => Record<string, string>;
  keys?: Target['keys'];
  members?: number;
  /** What its first correct answer is; by default, one to a look-up. */
  check?: ((target: Target, signal: AbortSignal) => Promise<void>) | undefined;
};

/** Starts a process with this Node version. Resolves before the process is ready. */
export function launch(
  node: NodeVersion,
  { root = ROOT, cores = 'target', args, env }: Launch,
): Promise<ServerProcess> {
  // `node --import tsx` looks for tsx in the current folder.
  const run = pinned(cores, 'env', ['-C', root, node.path, ...args]);
  return startProcess({ ...run, env: { NODE_ENV: 'production', ...env }, signal: 'KILL' });
}

/** Runs a script of bench/servers. Resolves with the result that it prints. */
export async function resultOf<Result>(
  node: NodeVersion,
  script: string,
  options: unknown,
): Promise<Result> {
  const process = await launch(node, { args: benchServer(ROOT, script, options) });
  try {
    await process.ended;
  } finally {
    await process.stop();
  }
  const [, result] = /^RESULT (.*)$/m.exec(process.output()) ?? [];
  if (result === undefined) throw new Error(`no result: ${process.output()}`);
  return JSON.parse(result) as Result; // Cast: the script has written it.
}

/**
 * Starts a server and waits for its first correct answer. Rejects with its output if it ends before
 * that.
 */
export async function startServer(node: NodeVersion, launched: ServerLaunch): Promise<Server> {
  const { args, env, check = checkFirstAnswer, ...others } = launched;
  const { keys = [{}], members = MEMORY_MEMBERS, ...rest } = others;
  const port = await freePort();
  const target: Target = { url: `http://127.0.0.1:${port}/graphql`, keys, members };
  const startedAt = performance.now();
  const started = await launch(node, {
    ...rest,
    args: args(port),
    env: { APOLLO_TELEMETRY_DISABLED: 'true', ...env?.(port) },
  });
  await untilReady(started, (signal) => check(target, signal));
  return {
    ...target,
    usage: () => usageOf(started.pid),
    readyMs: performance.now() - startedAt,
    stop: started.stop,
  };
}

/**
 * Waits for a check of a process. If the check fails or the process ends, stops the process and
 * rejects.
 */
export async function untilReady(
  started: ServerProcess,
  check: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const abort = new AbortController();
  const ended = started.ended.then(() => {
    throw new Error(`the process ended: ${started.output()}`);
  });
  try {
    await Promise.race([check(abort.signal), ended]);
  } catch (error) {
    await started.stop();
    throw error;
  } finally {
    abort.abort();
  }
}
