// Clears what LMDB leaves in the unused bytes of the pages of a copy.
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';
import { HEADER_BYTES, NODE, NODE_BYTES, PAGE, readNumber } from '../pages.ts';

const PAGE_BYTES_AT = 48;
const META_PAGES = 2;
const CHUNK_PAGES = 256;
/** LMDB copies whole words, so fewer bytes than that beside each end of a gap. */
const WORD_BYTES = 8;

type Chunk = { fd: number; bytes: Buffer; start: number; pageBytes: number; isChanged: boolean };

/**
 * Sets to zero what a compacting copy takes along of deleted values: a few bytes beside the gap
 * between the index of a page and its values, and what follows the last byte of a long value. The
 * rest of a gap has bytes of other pages of the copy. Nobody may use the file. Rejects if it is not
 * such a copy.
 */
export async function clearSlack(path: string): Promise<void> {
  const fd = openSync(path, 'r+');
  try {
    const { size } = fstatSync(fd);
    const head = Buffer.alloc(PAGE_BYTES_AT + 4);
    readFully(fd, head, 0);
    const pageBytes = head.readUInt32LE(PAGE_BYTES_AT);
    const buffer = Buffer.alloc(CHUNK_PAGES * pageBytes);
    for (let start = META_PAGES * pageBytes; start < size; ) {
      const bytes = buffer.subarray(0, Math.min(buffer.length, size - start));
      readFully(fd, bytes, start);
      const chunk = { fd, bytes, start, pageBytes, isChanged: false };
      const end = clearPages(chunk);
      if (chunk.isChanged) writeSync(fd, bytes, 0, bytes.length, start);
      start += end;
      await nextTick();
    }
  } finally {
    closeSync(fd);
  }
}

/** Returns where the next page begins, which may be behind the chunk. */
function clearPages(chunk: Chunk): number {
  const { bytes, start, pageBytes } = chunk;
  let at = 0;
  while (at < bytes.length) {
    if (bytes.readUInt32LE(at) !== ((start + at) / pageBytes) % 2 ** 32)
      throw new Error('a page of the copy is not in its place');
    const kind = bytes.readUInt16LE(at + 18);
    if (kind === PAGE.overflow) {
      at += bytes.readUInt32LE(at + 20) * pageBytes;
      continue;
    }
    if (kind === PAGE.leaf) clearLongValues(chunk, at);
    clearGap(chunk, at);
    at += pageBytes;
  }
  return at;
}

function clearGap(chunk: Chunk, page: number): void {
  const { bytes, pageBytes } = chunk;
  const [lower, upper] = [bytes.readUInt16LE(page + 20), bytes.readUInt16LE(page + 22)];
  if (lower > upper || upper > pageBytes - HEADER_BYTES)
    throw new Error('a page of the copy is damaged');
  const [from, to] = [page + HEADER_BYTES + lower, page + HEADER_BYTES + upper];
  clear(chunk, from, Math.min(from + WORD_BYTES, to));
  clear(chunk, Math.max(to - WORD_BYTES, from), to);
}

/** Clears what follows the values that have pages of their own. */
function clearLongValues(chunk: Chunk, page: number): void {
  const { bytes } = chunk;
  const first = page + HEADER_BYTES;
  const end = first + bytes.readUInt16LE(page + 20);
  for (let index = first; index < end; index += 2) {
    const node = first + bytes.readUInt16LE(index);
    if (bytes.readUInt16LE(node + 4) === NODE.overflow) clearLongValue(chunk, node);
  }
}

function clearLongValue(chunk: Chunk, node: number): void {
  const { fd, bytes, start, pageBytes } = chunk;
  const value = node + NODE_BYTES + bytes.readUInt16LE(node + 6);
  const [page, pages] = [readNumber(bytes, value), readNumber(bytes, value + 16)];
  const from = page * pageBytes + HEADER_BYTES + bytes.readUInt32LE(node);
  const to = (page + pages) * pageBytes;
  if (from > to) throw new Error('a long value of the copy is damaged');
  // The chunk may be written again, and may have only the beginning of the value.
  if (from >= start && to <= start + bytes.length) clear(chunk, from - start, to - start);
  else {
    writeSync(fd, Buffer.alloc(to - from), 0, to - from, from);
    bytes.fill(0, clamp(from - start, bytes), clamp(to - start, bytes));
  }
}

function clear(chunk: Chunk, from: number, to: number): void {
  const { bytes } = chunk;
  for (let at = from; at < to; at++)
    if (bytes[at] !== 0) {
      bytes[at] = 0;
      chunk.isChanged = true;
    }
}

function clamp(at: number, { length }: Buffer): number {
  return Math.min(Math.max(at, 0), length);
}

function readFully(fd: number, bytes: Buffer, position: number): void {
  if (readSync(fd, bytes, 0, bytes.length, position) < bytes.length)
    throw new Error('the copy has been cut off');
}
