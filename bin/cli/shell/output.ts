// The output of a command: written at once, whatever becomes of its reader.
import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { isatty } from 'node:tty';

/** A terminal, a file or a pipe. If a write fails, `errored` says why, and what follows is lost. */
export type Output = Writable & { isTTY?: boolean; columns?: number };

/**
 * A stream whose writes are done when they return. They wait for a slow reader, so that nothing
 * piles up in memory. process.stdout writes to a pipe later, and learns later that nobody reads it.
 */
export function openOutput(fd: 1 | 2): Output {
  const stream = new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      try {
        writeAll(fd, text);
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
  stream.on('error', () => {});
  if (!isatty(fd)) return stream;
  return Object.assign(stream, { isTTY: true, columns: process.stderr.columns });
}

const RETRY_MS = 10;

function writeAll(fd: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      // Another process has made the pipe non-blocking, and it is full.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}
