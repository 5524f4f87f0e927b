// Imports a stream of NDJSON into a store: bounded in memory, in the file's order, every line checked before it is used.
import { ApiError } from '@partner-loyalty/runtime';
import { parseLine } from './json.ts';
import { type Line, linesOf } from './lines.ts';

/** What became of a line's record in the store; a text says why it was refused. */
export type Verdict = 'added' | 'changed' | 'unchanged' | { refused: string };

/** One kind of line. `check` fails with BAD_USER_INPUT and a text without any value of the line; `store` answers in the order of the records, and a repeated record is unchanged. */
export type Kind<T> = {
  check(value: Record<string, unknown>): T;
  store(records: T[]): Promise<Verdict[]>;
};

/** Called as the import goes on; `done` after each batch that is stored. */
export type Listener = { bad(line: number, reason: string): void; done(summary: Summary): void };

/** Counts so far. `lines` is the number of the last line dealt with, `bytes` its end in the stream. */
export type Summary = {
  lines: number;
  bytes: number;
  added: number;
  changed: number;
  unchanged: number;
  bad: number;
};

/** Large enough that a commit's cost is shared by thousands of lines, small enough for any machine's memory. */
const BATCH_LINES = 5_000;
const BATCH_BYTES = 4_194_304;

type Batch = { lines: Line[]; lastLine: number; bytes: number };
type CheckedBatch<T> = {
  records: T[];
  numbers: number[];
  bad: { line: number; reason: string }[];
  lastLine: number;
  bytes: number;
};

/**
 * Imports every line that can be used and reports the others. One batch is stored while the next one is read and checked; batches are stored one
 * after the other, so the file's order holds. Once the signal aborts, the batch being stored is the last. Rejects where the stream or the store does:
 * what `done` last reported is in then, and the import can be repeated.
 */
export async function importLines<T>(
  chunks: AsyncIterable<Buffer>,
  kind: Kind<T>,
  listener: Listener,
  signal?: AbortSignal,
): Promise<Summary> {
  const summary: Summary = { lines: 0, bytes: 0, added: 0, changed: 0, unchanged: 0, bad: 0 };

  const store = async (batch: CheckedBatch<T>) => {
    const verdicts = batch.records.length > 0 ? await kind.store(batch.records) : [];
    for (const [index, verdict] of verdicts.entries()) {
      if (typeof verdict === 'string') summary[verdict] += 1;
      else batch.bad.push({ line: batch.numbers[index] ?? 0, reason: verdict.refused });
    }
    for (const { line, reason } of batch.bad.sort((a, b) => a.line - b.line))
      listener.bad(line, reason);
    summary.bad += batch.bad.length;
    summary.lines = batch.lastLine;
    summary.bytes = batch.bytes;
    listener.done(summary);
  };

  let storing = Promise.resolve();
  try {
    for await (const batch of batchesOf(chunks)) {
      if (signal?.aborted) break;
      const checked = checkAll(batch, kind);
      await storing;
      if (signal?.aborted) break;
      storing = store(checked);
      storing.catch(() => undefined); // Awaited below, but it may reject while the next batch is still being read.
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    await storing;
  }
  return summary;
}

async function* batchesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Batch> {
  let bytes = 0;
  let start = 0;
  let lines: Line[] = [];
  const counted = (async function* () {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      yield chunk;
    }
  })();
  for await (const some of linesOf(counted)) {
    lines = lines.length === 0 ? some : lines.concat(some);
    if (lines.length >= BATCH_LINES || bytes - start >= BATCH_BYTES) {
      yield { lines, lastLine: lines.at(-1)?.number ?? 0, bytes };
      lines = [];
      start = bytes;
    }
  }
  if (lines.length > 0) yield { lines, lastLine: lines.at(-1)?.number ?? 0, bytes };
}

function checkAll<T>(batch: Batch, kind: Kind<T>): CheckedBatch<T> {
  const checked: CheckedBatch<T> = {
    records: [],
    numbers: [],
    bad: [],
    lastLine: batch.lastLine,
    bytes: batch.bytes,
  };
  for (const line of batch.lines) {
    const outcome = check(line, kind);
    if (outcome === undefined) continue;
    if ('record' in outcome) {
      checked.records.push(outcome.record);
      checked.numbers.push(line.number);
    } else checked.bad.push({ line: line.number, reason: outcome.reason });
  }
  return checked;
}

/** The line's record or why there is none; undefined for a blank line. */
function check<T>(line: Line, kind: Kind<T>): { record: T } | { reason: string } | undefined {
  if ('fault' in line) return { reason: line.fault };
  if (line.text.trim() === '') return undefined;
  const parsed = parseLine(line.text);
  if ('fault' in parsed) return { reason: parsed.fault };
  try {
    return { record: kind.check(parsed.value) };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'BAD_USER_INPUT')
      return { reason: error.message };
    throw error;
  }
}
