// Imports a stream of NDJSON into a store, in the order of the file and within bounded memory.
import type { Parsed } from '@partner-loyalty/runtime/input.ts';
import { type Batch, batchesOf } from './batch.ts';

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

/** Stores a batch, then adds it to the summary and reports it. */
async function storeBatch<T>(
  { records, lineNumbers, badLines, lastLine, bytes }: Batch<T>,
  kind: RecordKind<T>,
  summary: Summary,
  listener: ImportListener,
): Promise<void> {
  const outcomes = records.length > 0 ? await kind.store(records) : [];
  const bad = [...badLines];
  for (const [index, outcome] of outcomes.entries()) {
    if (typeof outcome === 'string') summary[outcome] += 1;
    else bad.push({ line: lineNumbers[index] ?? 0, fault: outcome.refused });
  }
  for (const { line, fault } of bad.sort((one, other) => one.line - other.line))
    listener.bad(line, fault);
  summary.bad += bad.length;
  summary.lines = lastLine;
  summary.bytes = bytes;
  listener.stored(summary);
}
