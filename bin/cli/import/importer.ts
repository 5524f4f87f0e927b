// Imports a stream of NDJSON into a store, in the order of the file and within bounded memory.
import type { Parsed } from '@partner-loyalty/runtime/input.ts';
import { type Line, linesOf } from '../shell/lines.ts';
import { parseStrictJson } from './strictjson.ts';

/** What became of a record in the store: its effect, or why it was refused. */
export type ImportOutcome = 'added' | 'changed' | 'unchanged' | { refused: string };

/**
 * One kind of record. The faults of `parse` contain no value of the line. `store` returns the
 * outcomes in the order of the records; storing a record again leaves it unchanged.
 */
export type RecordKind<T> = {
  /** How many lines share the cost of a commit; while they are written, other writers wait. */
  batchLines: number;
  parse(line: Record<string, unknown>): Parsed<T>;
  store(records: T[]): Promise<ImportOutcome[]>;
};

/** Follows an import: `bad` is called for each line left out, `stored` after each batch. */
type ImportListener = {
  bad(line: number, reason: string): void;
  stored(summary: Summary): void;
};

/** Counts so far. `lines` is the number of the last line stored, `bytes` its end in the stream. */
export type Summary = {
  lines: number;
  bytes: number;
  added: number;
  changed: number;
  unchanged: number;
  bad: number;
};

/**
 * Imports every line that is usable and reports the others. While one batch is stored, the next one
 * is read and parsed; batches are stored one after the other, which keeps the order of the file.
 * After the signal aborts, the batch being stored is the last one. Rejects if the stream or the
 * store fails: everything up to the last call of `stored` is in, and the import can be repeated.
 */
export async function importLines<T>(
  chunks: AsyncIterable<Buffer>,
  kind: RecordKind<T>,
  listener: ImportListener,
  signal?: AbortSignal,
): Promise<Summary> {
  const summary: Summary = { lines: 0, bytes: 0, added: 0, changed: 0, unchanged: 0, bad: 0 };
  let storing = Promise.resolve();
  try {
    for await (const batch of batchesOf(chunks, kind)) {
      await storing;
      if (signal?.aborted) break;
      storing = storeBatch(batch, kind, summary, listener);
      // Awaited below, but it may reject while the next batch is still being read.
      storing.catch(() => undefined);
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    await storing;
  }
  return summary;
}

/** A line in which something is: its record, or why it is not usable. */
type ParsedLine<T> = { number: number } & Parsed<T>;

/** Lines in a row, of which the last one ends after `bytes` of the stream. */
type Batch<T> = { lines: ParsedLine<T>[]; lastLine: number; bytes: number };

const BATCH_BYTES = 4_194_304;

/** Batches of about `batchLines`, fewer if the lines are long. */
async function* batchesOf<T>(
  chunks: AsyncIterable<Buffer>,
  { batchLines, parse }: RecordKind<T>,
): AsyncGenerator<Batch<T>> {
  let bytes = 0;
  let batchStart = 0;
  let lines: Line[] = [];
  const take = (): Batch<T> => {
    const lastLine = lines.at(-1)?.number ?? 0;
    const taken = { lines: lines.flatMap((line) => parseLine(line, parse)), lastLine, bytes };
    lines = [];
    batchStart = bytes;
    return taken;
  };
  const counted = (async function* () {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      yield chunk;
    }
  })();
  for await (const more of linesOf(counted)) {
    lines = lines.length === 0 ? more : lines.concat(more);
    if (lines.length >= batchLines || bytes - batchStart >= BATCH_BYTES) yield take();
  }
  if (lines.length > 0) yield take();
}

/** Nothing for a blank line. */
function parseLine<T>(line: Line, parse: RecordKind<T>['parse']): ParsedLine<T>[] {
  if ('fault' in line) return [line];
  const { number, text } = line;
  if (text.trim() === '') return [];
  const json = parseStrictJson(text);
  const parsed = 'fault' in json ? json : parse(json.value);
  return ['fault' in parsed ? { number, fault: parsed.fault } : { number, value: parsed.value }];
}

/** Stores a batch, then adds it to the summary and reports it. */
async function storeBatch<T>(
  { lines, lastLine, bytes }: Batch<T>,
  kind: RecordKind<T>,
  summary: Summary,
  listener: ImportListener,
): Promise<void> {
  const records = lines.flatMap((line) => ('value' in line ? [line.value] : []));
  const outcomes = (records.length > 0 ? await kind.store(records) : []).values();
  for (const line of lines) {
    const outcome = 'fault' in line ? { refused: line.fault } : outcomes.next().value;
    if (typeof outcome === 'string') summary[outcome] += 1;
    else if (outcome !== undefined) {
      summary.bad += 1;
      listener.bad(line.number, outcome.refused);
    }
  }
  summary.lines = lastLine;
  summary.bytes = bytes;
  listener.stored(summary);
}
