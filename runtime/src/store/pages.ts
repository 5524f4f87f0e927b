// Checks an LMDB file page by page, since LMDB trusts its pages and ends the process on a bad one.
import { fstatSync, readSync } from 'node:fs';

/** The format of lmdb 3.5's liblmdb (mdb.c): little-endian, on 64-bit machines. */
const MAGIC = 0xbeefc0de;
export const HEADER_BYTES = 24;
const META_BYTES = 168;
const TREE_BYTES = 48;
export const NODE_BYTES = 8;
export const PAGE = { branch: 0x01, leaf: 0x02, overflow: 0x04, meta: 0x08 } as const;
export const NODE = { overflow: 0x01, tree: 0x02 } as const;

type Tree = { root: number; depth: number };
type Meta = { pageBytes: number; transaction: number; pages: number; trees: Tree[] };
type Snapshot = Meta & { fileBytes: number };
/** A page to look at, and how many levels lie below it. */
type Place = { page: number; below: number };

/** A writer can outrun a check: it is then repeated, so often at most. */
const ATTEMPTS = 5;

/**
 * Why the file is damaged, or undefined if it is in order. Looks at `maxPages` pages at most, the
 * upper levels of each tree first, in about 5 µs each; of a long value, only at its first page.
 * Other processes may write meanwhile.
 */
export function findDamage(fd: number, maxPages: number): string | undefined {
  let before: Snapshot | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const snapshot = readSnapshot(fd);
    if (typeof snapshot === 'string') return snapshot;
    const damage = new Walk(fd, snapshot, maxPages).run();
    if (damage === undefined) return undefined;
    // Pages of the latest transaction are never overwritten, those of an earlier one are.
    if (before?.transaction === snapshot.transaction) return damage;
    before = snapshot;
  }
  return undefined;
}

/** The latest committed transaction; or why there is none. */
function readSnapshot(fd: number): Snapshot | string {
  if (fstatSync(fd).size === 0) return 'it is empty';
  const first = readMeta(fd, 0, 0);
  if (first === undefined) return 'its first page is not that of a store';
  const second = readMeta(fd, 1, first.pageBytes);
  if (second === undefined || second.pageBytes !== first.pageBytes)
    return 'its second page is not that of a store';
  const latest = first.transaction > second.transaction ? first : second;
  return { ...latest, fileBytes: fstatSync(fd).size };
}

function readMeta(fd: number, page: number, position: number): Meta | undefined {
  const bytes = Buffer.alloc(META_BYTES);
  if (readSync(fd, bytes, 0, META_BYTES, position) < META_BYTES) return undefined;
  const pageBytes = bytes.readUInt32LE(48);
  const isMeta =
    bytes.readUInt16LE(18) === PAGE.meta &&
    bytes.readUInt32LE(HEADER_BYTES) === MAGIC &&
    readNumber(bytes, 0) === page &&
    isPowerOfTwo(pageBytes) &&
    pageBytes >= 256 &&
    pageBytes <= 65_536;
  if (!isMeta) return undefined;
  return {
    pageBytes,
    trees: [readTree(bytes, 48), readTree(bytes, 48 + TREE_BYTES)],
    pages: readNumber(bytes, 144) + 1,
    transaction: readNumber(bytes, 152),
  };
}

/** Goes through the trees of a snapshot, level by level. */
class Walk {
  private readonly fd: number;
  private readonly snapshot: Snapshot;
  private readonly bytes: Buffer;
  private readonly header = Buffer.alloc(HEADER_BYTES);
  private readonly places: Place[] = [];
  private pagesLeft: number;

  constructor(fd: number, snapshot: Snapshot, maxPages: number) {
    this.fd = fd;
    this.snapshot = snapshot;
    this.bytes = Buffer.alloc(snapshot.pageBytes);
    this.pagesLeft = maxPages;
    for (const tree of snapshot.trees) this.addTree(tree);
  }

  run(): string | undefined {
    const { places } = this;
    // The list grows meanwhile.
    for (let next = 0; next < places.length && this.pagesLeft > 0; next++) {
      const place = places[next];
      if (place !== undefined && !this.isIntact(place)) return `page ${place.page} is damaged`;
    }
    return undefined;
  }

  private addTree({ root, depth }: Tree): void {
    if (root !== NO_PAGE) this.places.push({ page: root, below: depth - 1 });
  }

  /** Also adds the pages that it leads to. */
  private isIntact({ page, below }: Place): boolean {
    if (below < 0 || !this.read(page)) return false;
    const { bytes } = this;
    const kind = below === 0 ? PAGE.leaf : PAGE.branch;
    const [lower, upper] = [bytes.readUInt16LE(20), bytes.readUInt16LE(22)];
    const space = bytes.length - HEADER_BYTES;
    if (bytes.readUInt16LE(18) !== kind || lower % 2 !== 0 || lower === 0) return false;
    if (lower > upper || upper > space) return false;
    for (let index = 0; index < lower / 2; index++) {
      const offset = bytes.readUInt16LE(HEADER_BYTES + 2 * index);
      if (offset < upper || offset + NODE_BYTES > space) return false;
      const node = bytes.subarray(HEADER_BYTES + offset);
      if (!(below === 0 ? this.followLeaf(node) : this.followBranch(node, below))) return false;
    }
    return true;
  }

  /** Reads a page; false if it is not in the file, or not where it says it is. */
  private read(page: number): boolean {
    const { bytes, fd, snapshot } = this;
    if (page < 2 || page >= snapshot.pages) return false;
    this.pagesLeft -= 1;
    if (readSync(fd, bytes, 0, bytes.length, page * bytes.length) < bytes.length) return false;
    return readNumber(bytes, 0) === page && readNumber(bytes, 8) <= snapshot.transaction;
  }

  private followBranch(node: Buffer, below: number): boolean {
    const [low, high] = [node.readUInt32LE(0), node.readUInt16LE(4)];
    if (NODE_BYTES + node.readUInt16LE(6) > node.length) return false;
    this.places.push({ page: low + high * 2 ** 32, below: below - 1 });
    return true;
  }

  private followLeaf(node: Buffer): boolean {
    const [length, flags] = [node.readUInt32LE(0), node.readUInt16LE(4)];
    const value = NODE_BYTES + node.readUInt16LE(6);
    if (value + (flags === NODE.overflow ? HEADER_BYTES : length) > node.length) return false;
    if (flags === NODE.overflow) return this.hasOverflow(node.subarray(value), length);
    if (flags === NODE.tree && length === TREE_BYTES) this.addTree(readTree(node, value));
    return flags === 0 || (flags === NODE.tree && length === TREE_BYTES);
  }

  /**
   * Whether the pages of a long value are there and, while there are pages left to look at, whether
   * the first one has the right header.
   */
  private hasOverflow(reference: Buffer, length: number): boolean {
    const { fd, snapshot, header } = this;
    const [page, count] = [readNumber(reference, 0), readNumber(reference, 16)];
    if (page < 2 || page + count > snapshot.pages) return false;
    if (length + HEADER_BYTES > count * snapshot.pageBytes) return false;
    if (snapshot.fileBytes < page * snapshot.pageBytes + HEADER_BYTES + length) return false;
    // A leaf can have more long values than a check may take time for.
    if (this.pagesLeft <= 0) return true;
    this.pagesLeft -= 1;
    readSync(fd, header, 0, HEADER_BYTES, page * snapshot.pageBytes);
    return (
      readNumber(header, 0) === page &&
      header.readUInt16LE(18) === PAGE.overflow &&
      header.readUInt32LE(20) === count
    );
  }
}

function readTree(bytes: Buffer, offset: number): Tree {
  return { depth: bytes.readUInt16LE(offset + 6), root: readNumber(bytes, offset + 40) };
}

/** What a tree without entries has as its root: 64 bits that are all set. */
const NO_PAGE = 2 ** 64;

export function readNumber(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * 2 ** 32;
}

function isPowerOfTwo(number: number): boolean {
  return number > 0 && (number & (number - 1)) === 0;
}
