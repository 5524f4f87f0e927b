// Starts server processes for tests. None outlives the process that started it, however that ends.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';

export type ServerCommand = {
  command: string;
  args: string[];
  /** Added to this process's environment, or with `isWhole` all of it. */
  env?: NodeJS.ProcessEnv;
  isWhole?: boolean;
  cwd?: string;
  /** The signal that ends it, KILL by default. If it still runs 30 seconds later, it is killed. */
  signal?: 'KILL' | 'QUIT' | 'TERM';
  /** A folder to remove after it has ended. */
  folder?: string;
};

export type ServerProcess = {
  /** The server's own process id. */
  pid: number;
  /**
   * Resolves with the match when its output matches the pattern. Rejects with its output if it ends
   * first or takes over 90 seconds.
   */
  wrote(pattern: RegExp): Promise<RegExpExecArray>;
  /** The last part of its output so far. */
  output(): string;
  /** Resolves when it has ended, for whatever reason. */
  ended: Promise<void>;
  /**
   * Ends it and removes its folder. Resolves with its exit code, which is 128 plus the signal's
   * number if a signal ended it. Calling it again has no further effect.
   */
  stop(): Promise<number>;
};

const START_TIMEOUT_MS = 90_000;
// Longer than the 25 seconds that the service gives its requests to finish.
const PATIENCE_SECONDS = 30;
// Error messages need only the last part of a chatty server's output.
const KEPT_CHARACTERS = 32_768;
// A line that is waited for may be followed by those of thousands of requests meanwhile.
const SEARCHED_CHARACTERS = 2 ** 21;

// The guard runs in a session of its own, so Ctrl-C does not reach it. It ends the server when its
// standard input closes, which happens when stop() is called or this process dies, even of SIGKILL.
// It closes its standard error, so that only the server holds the pipe and the pipe's end is the
// server's end. Its alarm must be killed: a shell that is about to become `sleep` loses a SIGTERM,
// so the alarm would stay alive and keep the test's pipes open.
const GUARD = `
signal=$1 patience=$2 folder=$3; shift 3
"$@" >&2 &
pid=$!
echo $pid
exec 2>&-
while read -r _; do :; done
kill -s "$signal" $pid
( trap 'kill -s KILL $!; exit' TERM; sleep "$patience" & wait $! && kill -s KILL $pid ) &
wait $pid
code=$?
kill $!
[ -z "$folder" ] || rm -rf -- "$folder"
exit $code
`;

/** Starts a server. Resolves when the process exists, before the server is ready. */
export async function startProcess({
  command,
  args,
  env,
  isWhole = false,
  cwd,
  signal = 'KILL',
  folder = '',
}: ServerCommand): Promise<ServerProcess> {
  const guard = spawn(
    '/bin/sh',
    ['-c', GUARD, 'sh', signal, `${PATIENCE_SECONDS}`, folder, command, ...args],
    {
      detached: true,
      env: { ...(!isWhole && process.env), ...env },
      cwd,
    },
  );
  let written = '';
  const output = () => written.slice(-KEPT_CHARACTERS);
  guard.stderr.setEncoding('utf8').on('data', (part: string) => {
    written += part;
    // Not with each part, since that copies all of it.
    if (written.length > 2 * SEARCHED_CHARACTERS) written = written.slice(-SEARCHED_CHARACTERS);
  });
  const ended = once(guard.stderr, 'close').then(() => undefined);
  const gone = once(guard, 'exit');
  const [pid] = await once(guard.stdout.setEncoding('utf8'), 'data');

  return {
    pid: Number(pid),
    output,
    ended,
    wrote(pattern) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(written);
          if (found) settle(() => resolve(found));
        };
        const fail = (why: string) => () =>
          settle(() => reject(new Error(`${command} ${why}: ${output()}`)));
        const timer = setTimeout(fail('was not ready in time'), START_TIMEOUT_MS);
        const end = fail('ended');
        const settle = (done: () => void) => {
          clearTimeout(timer);
          guard.stderr.off('data', look).off('close', end);
          done();
        };
        guard.stderr.on('data', look).on('close', end);
        look();
      });
    },
    async stop() {
      guard.stdin.end();
      const [code] = await gone;
      return code;
    },
  };
}

/**
 * Resolves with a command's standard output. Rejects with the last part of all output if it fails.
 */
export async function run(command: string, args: string[], input = ''): Promise<string> {
  const child = spawn(command, args, { timeout: 600_000, killSignal: 'SIGKILL' });
  child.stdin.on('error', () => undefined).end(input);
  const [[code], out, err] = await Promise.all([
    once(child, 'exit'),
    text(child.stdout),
    text(child.stderr),
  ]);
  if (code !== 0)
    throw new Error(`${command} ${args.join(' ')} failed: ${(out + err).slice(-2_000)}`);
  return out;
}

/**
 * A port that nothing listens on. It is below the range that systems take ports from by themselves,
 * so that no connection or server gets it in the meantime.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_768);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
