// Cuts a stream of bytes into numbered lines of text, bounded in memory however long a line is.
import { isUtf8 } from 'node:buffer';

/** A line of the file, numbered from 1, without its end; or why it cannot be read as text. */
export type Line = { number: number; text: string } | { number: number; fault: string };

/** More than the longest sensible member; a longer line is not kept, only counted. */
export const MAX_LINE_BYTES = 1_048_576;

const NEWLINE = 0x0a;

/**
 * Yields the lines as they come, those of one chunk together; asks for the next chunk only once they are taken. LF and CRLF end a line, the last
 * one may go without; a byte order mark at the start is not part of the first. Holds one chunk and one line at most. Rejects where the stream does.
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number = MAX_LINE_BYTES,
): AsyncGenerator<Line[]> {
  let number = 1;
  let rest: Buffer[] = [];
  let restBytes = 0;

  const keep = (piece: Buffer) => {
    restBytes += piece.length;
    if (restBytes > maxBytes) rest = [];
    else if (piece.length > 0) rest.push(piece);
  };
  const finish = (): Line => {
    const line: Line =
      restBytes > maxBytes
        ? { number, fault: `longer than ${maxBytes} bytes` }
        : read(Buffer.concat(rest), number);
    number += 1;
    rest = [];
    restBytes = 0;
    return line;
  };

  for await (const chunk of chunks) {
    const first = chunk.indexOf(NEWLINE);
    if (first === -1) {
      keep(chunk);
      continue;
    }
    keep(chunk.subarray(0, first));
    const lines = [finish()];
    const last = chunk.lastIndexOf(NEWLINE);
    if (last > first) {
      for (const line of readAll(chunk.subarray(first + 1, last), number, maxBytes))
        lines.push(line);
      number += lines.length - 1;
    }
    keep(chunk.subarray(last + 1));
    yield lines;
  }
  if (restBytes > 0) yield [finish()];
}

/** Many whole lines at once: decoded together where every byte is fine, which is several times faster than one by one. */
function readAll(bytes: Buffer, from: number, maxBytes: number): Line[] {
  if (bytes.length <= maxBytes && isUtf8(bytes)) {
    return bytes
      .toString('utf8')
      .split('\n')
      .map((text, index) => ({ number: from + index, text: withoutReturn(text) }));
  }
  const lines: Line[] = [];
  let start = 0;
  while (start <= bytes.length) {
    const found = bytes.indexOf(NEWLINE, start);
    const end = found === -1 ? bytes.length : found;
    const number = from + lines.length;
    lines.push(
      end - start > maxBytes
        ? { number, fault: `longer than ${maxBytes} bytes` }
        : read(bytes.subarray(start, end), number),
    );
    start = end + 1;
  }
  return lines;
}

function read(bytes: Buffer, number: number): Line {
  if (!isUtf8(bytes)) return { number, fault: 'not UTF-8' };
  const text = bytes.toString('utf8');
  return {
    number,
    text: withoutReturn(number === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text),
  };
}

function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}
