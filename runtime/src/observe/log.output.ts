// Writes log lines to a file descriptor in batches. A reader that is slow or gone costs lines, never the process.
import { writeSync } from 'node:fs';

const BATCH_BYTES = 8_192;
const EVERY_MS = 1_000;
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
const LAST_TRY_MS = 1_000;

export type Output = {
  write(line: string): void;
  /** Writes what is buffered before it returns, within a second where the reader is slow. */
  flush(): void;
};

/**
 * Lines go out a batch at a time, after a second at the latest, and when the process ends. What is beyond 16 MiB because nobody reads is dropped,
 * and so is everything once the reader is gone.
 */
export function createOutput(fd: number): Output {
  let pending = Buffer.alloc(0);
  let lines: string[] = [];
  let length = 0;
  let gone = false;
  let timer: NodeJS.Timeout | undefined;

  /** True where nothing is left to write. */
  function send(): boolean {
    if (gone) lines = [];
    if (lines.length > 0) pending = Buffer.concat([pending, Buffer.from(lines.join(''))]);
    lines = [];
    length = pending.length;
    try {
      while (pending.length > 0) pending = pending.subarray(writeSync(fd, pending));
    } catch (error) {
      // A pipe that is full says so; any other error will not pass.
      gone = !(error instanceof Error && 'code' in error && error.code === 'EAGAIN');
      if (gone) pending = Buffer.alloc(0);
    }
    length = pending.length;
    return length === 0;
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const until = performance.now() + LAST_TRY_MS;
    while (!send() && performance.now() < until)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }

  process.on('exit', flush);
  return {
    write(line) {
      if (gone || length > MAX_BUFFERED_BYTES) return;
      lines.push(line);
      length += line.length;
      if (length - pending.length >= BATCH_BYTES) send();
      timer ??= setTimeout(() => {
        timer = undefined;
        send();
      }, EVERY_MS).unref();
    },
    flush,
  };
}
