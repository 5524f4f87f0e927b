// Splits a stream of bytes into numbered lines of text, however long a line is.
//
// Neither node:readline nor split2 does this: both replace bytes that are not UTF-8 without a word,
// readline keeps a line of any length in memory, and split2 drops a long one from the count.
import { isUtf8 } from 'node:buffer';

/** A line, numbered from 1, without its line ending; or why it cannot be read as text. */
export type Line = { number: number; text: string } | { number: number; fault: string };

/** More than the longest sensible member. */
const MAX_LINE_BYTES = 1_048_576;

const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Yields the lines of each chunk together, and reads the next chunk only after they were taken.
 * Lines end in LF or CRLF; the last line may have no ending; a byte order mark is ignored. Keeps at
 * most one chunk and one line in memory. Rejects if the stream does.
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number = MAX_LINE_BYTES,
): AsyncGenerator<Line[]> {
  let number = 0;
  // The beginning of a line that continues in the next chunk. A line that is too long is not kept.
  let pieces: Buffer[] = [];
  let bytes = 0;

  const add = (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > maxBytes) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  };
  const finish = (): Line => {
    number += 1;
    const [whole = EMPTY] = pieces;
    const line =
      bytes > maxBytes
        ? { number, fault: `must have at most ${maxBytes} bytes` }
        : read(pieces.length > 1 ? Buffer.concat(pieces) : whole, number);
    pieces = [];
    bytes = 0;
    return line;
  };

  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end === -1) break;
      add(chunk.subarray(start, end));
      lines.push(finish());
      start = end + 1;
    }
    add(chunk.subarray(start));
    if (lines.length > 0) yield lines;
  }
  if (bytes > 0) yield [finish()];
}

const EMPTY = Buffer.alloc(0);

function read(bytes: Buffer, number: number): Line {
  if (!isUtf8(bytes)) return { number, fault: 'must be UTF-8' };
  let text = bytes.toString('utf8');
  if (number === 1 && text.startsWith(BYTE_ORDER_MARK)) text = text.slice(1);
  return { number, text: text.endsWith('\r') ? text.slice(0, -1) : text };
}
