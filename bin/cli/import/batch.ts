// Reads an import in batches of lines, and parses each batch into records.
import type { Parsed } from '@partner-loyalty/runtime/input.ts';
import { type Line, linesOf } from '../shell/lines.ts';
import { parseStrictJson } from './strictjson.ts';

/**
 * The records of some lines in a row with their line numbers, and the lines that are not usable.
 * `bytes` is where they end in the stream.
 */
export type Batch<T> = {
  records: T[];
  lineNumbers: number[];
  badLines: { line: number; fault: string }[];
  lastLine: number;
  bytes: number;
};

const BATCH_BYTES = 4_194_304;

type Parse<T> = (line: Record<string, unknown>) => Parsed<T>;

/** Batches of about `batchLines`, fewer if the lines are long. */
export async function* batchesOf<T>(
  chunks: AsyncIterable<Buffer>,
  { batchLines, parse }: { batchLines: number; parse: Parse<T> },
): AsyncGenerator<Batch<T>> {
  let bytes = 0;
  let batchStart = 0;
  let lines: Line[] = [];
  const counted = (async function* () {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      yield chunk;
    }
  })();
  for await (const more of linesOf(counted)) {
    lines = lines.length === 0 ? more : lines.concat(more);
    if (lines.length >= batchLines || bytes - batchStart >= BATCH_BYTES) {
      yield parseBatch(lines, bytes, parse);
      lines = [];
      batchStart = bytes;
    }
  }
  if (lines.length > 0) yield parseBatch(lines, bytes, parse);
}

function parseBatch<T>(lines: Line[], bytes: number, parse: Parse<T>): Batch<T> {
  const lastLine = lines.at(-1)?.number ?? 0;
  const batch: Batch<T> = { records: [], lineNumbers: [], badLines: [], lastLine, bytes };
  for (const line of lines) {
    const parsed = parseLine(line, parse);
    if (parsed === undefined) continue;
    if ('fault' in parsed) batch.badLines.push({ line: line.number, fault: parsed.fault });
    else {
      batch.records.push(parsed.value);
      batch.lineNumbers.push(line.number);
    }
  }
  return batch;
}

/** The record of a line; undefined for a blank line. */
function parseLine<T>(line: Line, parse: Parse<T>): Parsed<T> | undefined {
  if ('fault' in line) return line;
  if (line.text.trim() === '') return undefined;
  const json = parseStrictJson(line.text);
  return 'fault' in json ? json : parse(json.value);
}
