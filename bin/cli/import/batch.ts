// Reads an import in batches of lines, and parses each batch into records.
import type { Parsed } from '@partner-loyalty/runtime/input.ts';
import { type Line, linesOf } from '../shell/lines.ts';
import { parseStrictJson } from './strictjson.ts';

/** Some lines in a row. `bytes` is where they end in the stream. */
type Batch = { lines: Line[]; lastLine: number; bytes: number };

/** The records of a batch with their line numbers, and the lines that are not usable. */
export type ParsedBatch<T> = {
  records: T[];
  lineNumbers: number[];
  badLines: { line: number; fault: string }[];
  lastLine: number;
  bytes: number;
};

const BATCH_BYTES = 4_194_304;

/** Batches of about `batchLines`, fewer if the lines are long. */
export async function* batchesOf(
  chunks: AsyncIterable<Buffer>,
  batchLines: number,
): AsyncGenerator<Batch> {
  let bytes = 0;
  let batchStart = 0;
  let lines: Line[] = [];
  const counted = (async function* () {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      yield chunk;
    }
  })();
  const batch = (): Batch => ({ lines, lastLine: lines.at(-1)?.number ?? 0, bytes });
  for await (const more of linesOf(counted)) {
    lines = lines.length === 0 ? more : lines.concat(more);
    if (lines.length >= batchLines || bytes - batchStart >= BATCH_BYTES) {
      yield batch();
      lines = [];
      batchStart = bytes;
    }
  }
  if (lines.length > 0) yield batch();
}

export function parseBatch<T>(
  { lines, lastLine, bytes }: Batch,
  parseRecord: (line: Record<string, unknown>) => Parsed<T>,
): ParsedBatch<T> {
  const batch: ParsedBatch<T> = { records: [], lineNumbers: [], badLines: [], lastLine, bytes };
  for (const line of lines) {
    const parsed = parseLine(line, parseRecord);
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
function parseLine<T>(
  line: Line,
  parseRecord: (line: Record<string, unknown>) => Parsed<T>,
): Parsed<T> | undefined {
  if ('fault' in line) return line;
  if (line.text.trim() === '') return undefined;
  const json = parseStrictJson(line.text);
  return 'fault' in json ? json : parseRecord(json.value);
}
