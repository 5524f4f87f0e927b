// Starts server processes for tests so that none outlives the process that asked for it, however that one ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export type ServerCommand = {
  command: string;
  args: string[];
  env?: Record<string, string>;
  /** How its end is asked for; KILL unless told. What has not ended 30 seconds later is killed. */
  signal?: 'KILL' | 'QUIT' | 'TERM';
  /** A folder to remove once it has ended. */
  folder?: string;
};

export type ServerProcess = {
  /** The server's own process id. */
  pid: number;
  /** Waits until it has written what the pattern says, and gives the match. Rejects with what it wrote instead, where it ends first or takes over 90 seconds. */
  wrote(pattern: RegExp): Promise<RegExpExecArray>;
  /** The end of what it wrote so far. */
  output(): string;
  /** Resolves once it has ended, by itself or not. */
  ended: Promise<void>;
  /** Ends it, waits for that, removes its folder and gives its exit code, 128 and the signal's number where a signal ended it. A second call does nothing more. */
  stop(): Promise<number>;
};

const START_TIMEOUT_MS = 90_000;
// Longer than the 25 seconds that the service gives its requests to finish.
const PATIENCE_SECONDS = 30;
// Messages need the end of what was written, never all of a chatty server's output.
const KEPT_CHARACTERS = 16_384;

// The guard lives in a session of its own, so that Ctrl-C passes it by, and ends the server when its standard input closes:
// when stop() says so, and as well when the process that asked dies, of a SIGKILL too.
// The guard lets go of standard error, so that its end is the end of the server. Its alarm is killed: a shell that is about to become
// `sleep` loses a SIGTERM, and the alarm would live on, with the test's pipes in its hands.
const GUARD = `
signal=$1 patience=$2 folder=$3; shift 3
"$@" >&2 &
pid=$!
echo $pid
exec 2>&-
cat >/dev/null
kill -s "$signal" $pid
( trap 'kill -s KILL $!; exit' TERM; sleep "$patience" & wait; kill -s KILL $pid ) &
wait $pid
code=$?
kill $!
[ -z "$folder" ] || rm -rf -- "$folder"
exit $code
`;

/** Starts a server. Resolves as soon as it runs, which is before it is ready. */
export async function startProcess({
  command,
  args,
  env,
  signal = 'KILL',
  folder = '',
}: ServerCommand): Promise<ServerProcess> {
  const guard = spawn(
    '/bin/sh',
    ['-c', GUARD, 'sh', signal, `${PATIENCE_SECONDS}`, folder, command, ...args],
    {
      detached: true,
      env: { ...process.env, ...env },
    },
  );
  let output = '';
  guard.stderr.setEncoding('utf8').on('data', (part: string) => {
    output = (output + part).slice(-KEPT_CHARACTERS);
  });
  const ended = once(guard.stderr, 'close').then(() => undefined);
  const gone = once(guard, 'exit');
  const [pid] = await once(guard.stdout.setEncoding('utf8'), 'data');

  return {
    pid: Number(pid),
    output: () => output,
    ended,
    wrote(pattern) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(output);
          if (found) settle(() => resolve(found));
        };
        const give = (why: string) => () =>
          settle(() => reject(new Error(`${command} ${why}: ${output}`)));
        const timer = setTimeout(give('was not ready in time'), START_TIMEOUT_MS);
        const end = give('ended');
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

/** Runs a command to its end and gives its standard output. Rejects with the end of what it wrote where it fails. */
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
