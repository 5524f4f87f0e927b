// Compacting stores that are in use: nothing deleted is in a file, and nothing written is lost.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { temporaryFolder } from '../../../../test/support/folder.ts';
import { until } from '../../../../test/support/until.ts';
import { backupStores } from '../backup.ts';
import { type EmbeddedStore, openLmdb } from '../lmdb.ts';
import { isOutage } from '../outage.ts';
import { AlreadyCompacting, compactStores } from './compact.lmdb.ts';
import { HOLD_MS } from './follow.lmdb.ts';
import { type Mark, putMark } from './mark.lmdb.ts';

const GENERATION = /^\d+-[0-9a-f]{8}$/;
const LEFTOVER = '7-0123abcd';
/** Longer than what chance spells. */
const SECRET = 'a-secret-to-erase';

let folder: ReturnType<typeof temporaryFolder>;
let dataDir: string;
let place: string;
const opened: EmbeddedStore[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  dataDir = join(folder.path, 'data');
  place = join(dataDir, 'members');
  mkdirSync(dataDir);
});
afterEach(async () => {
  await closeAll();
  folder.remove();
});

async function closeAll(): Promise<void> {
  for (const { root } of opened.splice(0)) await root.close();
}

async function open() {
  const store = await openLmdb(dataDir, 'members', 'sandbox');
  opened.push(store);
  const { root } = store;
  const rows = root.openDB<{ text: string }, string>({ name: 'rows', encoding: 'json' });
  const put = (key: string, value = 'kept') =>
    root.transaction(() => rows.put(key, { text: value }));
  return { root, rows, put };
}

/** A store with rows of all sizes, and traces of what was deleted. */
async function fill(): Promise<void> {
  const { root, rows } = await open();
  await root.transaction(() => {
    for (let row = 0; row < 300; row++) rows.put(`row-${row}`, { text: 'text'.repeat(row * 10) });
    rows.put('secret', { text: SECRET });
    rows.put('long', { text: SECRET.repeat(1_000) });
  });
  await root.transaction(() => {
    rows.remove('secret');
    rows.remove('long');
  });
  await closeAll();
}

async function expectRows(): Promise<void> {
  const { rows } = await open();
  expect(rows.getKeysCount()).toBe(300);
  expect(rows.get('row-299')?.text).toHaveLength(299 * 40);
  await closeAll();
}

/** The bytes of every file under a folder. */
function bytesUnder(path: string): string {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

/** Nothing but the one copy, and what says where it is. */
function expectNoLeftovers(): void {
  const [generation = '', ...others] = readdirSync(place).sort();
  expect([generation, others]).toEqual([expect.stringMatching(GENERATION), ['data.mdb']]);
  expect(readFileSync(join(place, 'data.mdb'), 'utf8')).toContain(`moved to ${generation}\n`);
}

/** Leaves the store as a process does that makes a copy. */
async function mark(change: Partial<Mark>, sign = new Date()): Promise<void> {
  const { root } = await open();
  mkdirSync(join(place, LEFTOVER), { recursive: true });
  utimesSync(join(place, LEFTOVER), sign, sign);
  await root.transaction(() =>
    putMark(root, { from: '', to: LEFTOVER, since: Date.now(), isMoved: false, ...change }),
  );
  await closeAll();
}

test('what was deleted is in no file afterwards, however often it is done', async () => {
  await fill();
  expect(bytesUnder(dataDir)).toContain(SECRET);
  for (let round = 0; round < 3; round++) {
    const [compacted] = await compactStores(dataDir, 'sandbox');
    expect(compacted).toMatchObject({ store: 'members', bytes: expect.any(Number) });
    expect(bytesUnder(dataDir)).not.toContain(SECRET);
    expectNoLeftovers();
    await expectRows();
  }
  const [generation = ''] = readdirSync(place).sort();
  const modes = ['.', 'data.mdb', generation, join(generation, 'data.mdb')].map((path) =>
    (statSync(join(place, path)).mode & 0o777).toString(8),
  );
  expect(modes).toEqual(['700', '600', '700', '600']);
});

test('what a transaction has written over is in no file either', async () => {
  await fill();
  const { root, rows } = await open();
  await root.transaction(() => {
    rows.put('row-7', { text: 'text'.repeat(1_000) + SECRET });
    rows.put('row-7', { text: 'text'.repeat(70) });
    // Each is too long to share a page, and the second is written over the first.
    rows.put('row-299', { text: 'text'.repeat(2_990) + SECRET });
    rows.put('row-299', { text: 'text'.repeat(2_990) });
  });
  await closeAll();
  expect(bytesUnder(dataDir)).toContain(SECRET);
  await compactStores(dataDir, 'sandbox');
  expect(bytesUnder(dataDir)).not.toContain(SECRET);
  await expectRows();
});

/** Leaf pages of a copy have nothing but zeros beside the gap in their middle. */
test('no page keeps a part of what was deleted from it', async () => {
  const { root, rows } = await open();
  const key = (row: number) => `${row}`.padStart(5, '0');
  await root.transaction(() => {
    for (let row = 0; row < 5_000; row++) rows.put(key(row), { text: 'q'.repeat(row % 90) });
  });
  await root.transaction(() => {
    for (let row = 0; row < 5_000; row++) if (row % 3 > 0) rows.remove(key(row));
  });
  await closeAll();
  await compactStores(dataDir, 'sandbox');
  const [generation = ''] = readdirSync(place).sort();
  const file = readFileSync(join(place, generation, 'data.mdb'));
  let leaves = 0;
  for (let start = 2 * 4_096; start < file.length; start += 4_096) {
    const page = file.subarray(start, start + 4_096);
    if (page.readUInt16LE(18) !== 2) continue;
    const gap = page.subarray(24 + page.readUInt16LE(20), 24 + page.readUInt16LE(22));
    leaves += 1;
    for (const edge of [gap.subarray(0, 8), gap.subarray(-8)])
      expect(edge.every((byte) => byte === 0)).toBe(true);
  }
  expect(leaves).toBeGreaterThan(10);
  const { rows: kept } = await open();
  expect(kept.getKeysCount()).toBe(1_667);
});

test('a store that is open follows: reads, writes and snapshots', async () => {
  await fill();
  const { root, rows, put } = await open();
  const late = () => root.openDB<{ text: string }, string>({ name: 'late', encoding: 'json' });
  const snapshot = root.useReadTransaction();
  await compactStores(dataDir, 'sandbox');
  expect(rows.getKeysCount()).toBe(300);
  await put('new');
  await root.childTransaction(() => late().put('a', { text: 'b' }));
  expect([rows.get('new'), late().get('a')]).toEqual([{ text: 'kept' }, { text: 'b' }]);
  // The snapshot still has what it had.
  expect(rows.get('new', { transaction: snapshot })).toBeUndefined();
  expect(rows.getKeysCount({ transaction: snapshot })).toBe(300);
  snapshot.done();
  await compactStores(dataDir, 'sandbox');
  expect(rows.get('new')).toEqual({ text: 'kept' });
  await closeAll();
  const again = await open();
  expect(again.rows.get('new')).toEqual({ text: 'kept' });
});

test('a backup of a compacted store is an ordinary one', async () => {
  await fill();
  await compactStores(dataDir, 'sandbox');
  const copy = join(folder.path, 'copy');
  await backupStores(dataDir, 'sandbox', copy);
  expect(readdirSync(join(copy, 'members'))).toEqual(['data.mdb']);
  // It takes the place of the store, in whatever state that is.
  copyFileSync(join(copy, 'members', 'data.mdb'), join(place, 'data.mdb'));
  await expectRows();
  await compactStores(dataDir, 'sandbox');
  expectNoLeftovers();
  await expectRows();
});

test('without the file that says where the store is, nothing is opened or created', async () => {
  await fill();
  await compactStores(dataDir, 'sandbox');
  rmSync(join(place, 'data.mdb'));
  await expect(open()).rejects.toThrow('data.mdb is missing');
  expect(readdirSync(place)).toHaveLength(1);
});

test('a copy that takes over 2 s: writes reject as an outage, and reads go on', async () => {
  await fill();
  await mark({ since: Date.now() - HOLD_MS }, new Date(Date.now() + 60_000));
  const { rows, put } = await open();
  const error = await put('refused').catch((reason: unknown) => reason);
  expect([isOutage(error), String(error)]).toEqual([true, expect.stringContaining('compacted')]);
  expect(rows.get('row-1')).toBeDefined();
  // The process that made the copy is gone.
  rmSync(join(place, LEFTOVER), { recursive: true });
  await put('late');
  expect([rows.get('refused'), rows.get('late')]).toEqual([undefined, { text: 'kept' }]);
});

test('a write that waits goes on as soon as there is nobody to wait for', async () => {
  await fill();
  await mark({ since: Date.now() + 60_000 }, new Date(Date.now() + 60_000));
  const { rows, put } = await open();
  const waiting = put('waited');
  expect(rows.get('waited')).toBeUndefined();
  rmSync(join(place, LEFTOVER), { recursive: true });
  await waiting;
  expect(rows.get('waited')).toBeDefined();
});

test('of two processes that compact, one does, and the other says so', async () => {
  await fill();
  await mark({});
  const timer = setInterval(() => {
    utimesSync(join(place, LEFTOVER), new Date(), new Date());
  }, 20);
  await expect(compactStores(dataDir, 'sandbox')).rejects.toThrow(AlreadyCompacting);
  clearInterval(timer);
  await compactStores(dataDir, 'sandbox');
  expectNoLeftovers();
  await expectRows();
});

test('what a killed process has left is finished or removed, wherever it was killed', async () => {
  await fill();
  const long = new Date(0);
  // Killed while it made the copy.
  await mark({}, long);
  writeFileSync(join(place, LEFTOVER, 'data.mdb'), SECRET);
  await expectRows();
  await compactStores(dataDir, 'sandbox');
  expectNoLeftovers();
  await expectRows();

  // Killed when the copy was the store already, but no file said so.
  const [generation = ''] = readdirSync(place).sort();
  rmSync(join(place, 'data.mdb'));
  renameSync(join(place, generation), join(place, LEFTOVER));
  const moved = join(folder.path, 'other');
  await backupStores(await aStoreOf(moved), 'sandbox', join(folder.path, 'old'));
  copyFileSync(join(folder.path, 'old', 'members', 'data.mdb'), join(place, 'data.mdb'));
  await mark({ isMoved: true });
  await expectRows();
  expect(bytesUnder(place)).toContain(SECRET);
  await compactStores(dataDir, 'sandbox');
  expect(bytesUnder(place)).not.toContain(SECRET);
  expectNoLeftovers();
  await expectRows();

  // Killed while it removed the old copy, or wrote the file that names the new one.
  mkdirSync(join(place, LEFTOVER));
  writeFileSync(join(place, LEFTOVER, 'data.mdb'), SECRET);
  writeFileSync(join(place, 'data.mdb.new'), 'moved to');
  await expectRows();
  await compactStores(dataDir, 'sandbox');
  expectNoLeftovers();
  await expectRows();
});

/** Another store, which has the secret. Returns its data folder. */
async function aStoreOf(path: string): Promise<string> {
  mkdirSync(path);
  const { root } = await openLmdb(path, 'members', 'sandbox');
  await root.transaction(() => root.put('secret', SECRET));
  await root.close();
  return path;
}

describe('with other processes', () => {
  const children: ChildProcessWithoutNullStreams[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  function start(mode: 'compact' | 'use') {
    const script = join(import.meta.dirname, '../../../../test/support/store/child.ts');
    const child = spawn(process.execPath, ['--import', 'tsx', script, mode, dataDir]);
    children.push(child);
    const ended = once(child, 'close');
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const line = async (): Promise<string> => (await lines.next()).value ?? '';
    return { child, ended, line, errors: text(child.stderr) };
  }

  test('no acknowledged write is lost, and reads go on', async () => {
    const user = start('use');
    expect(await user.line()).toBe('ready');
    for (let round = 0; round < 8; round++) await compactStores(dataDir, 'sandbox');
    user.child.stdin.end();
    const { acknowledged, reads } = JSON.parse((await user.line()) || '{}');
    await user.ended;
    expect(await user.errors).toBe('');
    const { rows } = await open();
    expect(acknowledged.filter((key: string) => !rows.doesExist(key))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(10);
    expect(reads).toBeGreaterThanOrEqual(acknowledged.length);
    expectNoLeftovers();
  });

  test('killed at any point and repeated, it ends complete', async () => {
    await fill();
    let next = start('compact');
    for (let round = 0; round < 4; round++) {
      const { child, ended, line } = next;
      expect(await line()).toBe('ready');
      child.stdin.write('\n');
      await line();
      // It compacts over and over, so it is killed at another step each time.
      const killedAt = performance.now() + Math.random() * 150;
      await until(() => performance.now() > killedAt);
      child.kill('SIGKILL');
      await ended;
      if (round < 3) next = start('compact');
      await expectRows();
      await compactStores(dataDir, 'sandbox');
      expect(bytesUnder(dataDir)).not.toContain(SECRET);
      expectNoLeftovers();
      await expectRows();
    }
  });
});
