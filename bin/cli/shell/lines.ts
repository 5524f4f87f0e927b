// Splits a stream of bytes into numbered lines of text, however long a line is.
//
// Neither node:readline nor split2 does this: both replace bytes that are not UTF-8 without a word,
// readline keeps a line of any length in memory, and split2 drops a long one from the count.
import { utf8Text } from '@partner-loyalty/runtime/input.ts';
import { LineSplitter } from '@partner-loyalty/runtime/transport/lines.ts';

/** A line, numbered from 1, without its line ending; or why it cannot be read as text. */
export type Line = { number: number; text: string } | { number: number; fault: string };

/** More than the longest sensible member. */
const MAX_LINE_BYTES = 1_048_576;

/**
 * Yields the lines of each chunk together, and reads the next chunk only after they were taken.
 * Lines end in LF or CRLF; the last line may have no ending. A byte order mark before a line is
 * ignored, since several files may have been joined. Keeps at most one chunk and one line in
 * memory. Rejects if the stream does.
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number = MAX_LINE_BYTES,
): AsyncGenerator<Line[]> {
  const lines: Line[] = [];
  const splitter = new LineSplitter(maxBytes, {
    line: (bytes) => lines.push(read(bytes, splitter.count)),
    // Before the line has ended, so that it is not counted yet.
    tooLong: () =>
      lines.push({ number: splitter.count + 1, fault: `must have at most ${maxBytes} bytes` }),
  });
  for await (const chunk of chunks) {
    splitter.push(chunk);
    if (lines.length > 0) yield lines.splice(0);
  }
  splitter.end();
  if (lines.length > 0) yield lines.splice(0);
}

function read(bytes: Buffer, number: number): Line {
  const text = utf8Text(bytes);
  if (text === undefined) return { number, fault: 'must be UTF-8' };
  return { number, text: text.endsWith('\r') ? text.slice(0, -1) : text };
}
