// Damage of the embedded store's file, found when it is opened and while it is in use.
import { randomBytes } from 'node:crypto';
import fs, {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { until } from '../../../test/support/until.ts';
import { type EmbeddedStore, openLmdb } from './lmdb.ts';
import { isOutage } from './outage.ts';
import { findDamage } from './pages.ts';

const PAGE = 4_096;
const ROWS = 3_000;

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
const opened: EmbeddedStore[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'keys', 'data.mdb');
});
afterEach(async () => {
  await closeAll();
  folder.remove();
});

async function closeAll(): Promise<void> {
  for (const { root } of opened.splice(0)) await root.close();
}

async function open(): Promise<EmbeddedStore> {
  const store = await openLmdb(folder.path, 'keys', 'sandbox');
  opened.push(store);
  return store;
}

const tableOf = ({ root }: EmbeddedStore) =>
  root.openDB<{ text: string }, string>({ name: 'rows', encoding: 'json' });

/** Writes rows, a few of which need pages of their own, in several transactions. */
async function fill({ root }: EmbeddedStore, table: ReturnType<typeof tableOf>): Promise<void> {
  for (let first = 0; first < ROWS; first += 500)
    await root.transaction(() => {
      for (let row = first; row < first + 500; row++)
        table.put(`row-${row}`, { text: 'text'.repeat(row % 100 === 0 ? 5_000 : 20) });
    });
}

/** A store that was filled and closed. */
async function makeStore(): Promise<void> {
  const store = await open();
  await fill(store, tableOf(store));
  await closeAll();
}

function overwrite(position: number, bytes: Buffer): void {
  const fd = openSync(file, 'r+');
  writeSync(fd, bytes, 0, bytes.length, position);
  closeSync(fd);
}

const pagesOf = (path: string) => statSync(path).size / PAGE;

test.each<[string, () => void]>([
  ['is empty', () => truncateSync(file, 0)],
  ['was cut off in its first page', () => truncateSync(file, 100)],
  ['was cut off in the middle', () => truncateSync(file, Math.floor(pagesOf(file) / 2) * PAGE)],
  ['lost its last page', () => truncateSync(file, statSync(file).size - PAGE)],
  ['was replaced by text', () => writeFileSync(file, 'no store\n'.repeat(10_000))],
  ['was replaced by zeros', () => writeFileSync(file, Buffer.alloc(statSync(file).size))],
  ['has random bytes in its first page', () => overwrite(0, randomBytes(PAGE))],
  ['has random bytes in its second page', () => overwrite(PAGE, randomBytes(PAGE))],
  ['has random bytes in its first 16 pages', () => overwrite(0, randomBytes(16 * PAGE))],
  [
    'has random bytes in the middle',
    () => overwrite(Math.floor(pagesOf(file) / 2) * PAGE, randomBytes(20 * PAGE)),
  ],
  ['has zeros in the middle', () => overwrite(40 * PAGE + 17, Buffer.alloc(20 * PAGE))],
])('a store whose file %s is refused by an error that names the file', async (_, damage) => {
  await makeStore();
  damage();
  await expect(openLmdb(folder.path, 'keys', 'sandbox')).rejects.toThrow(`${file} is damaged: `);
});

test('of a store with random bytes in any one page, none ends the process', async () => {
  await makeStore();
  const intact = readFileSync(file);
  let refused = 0;
  for (let page = 0; page < pagesOf(file); page += 17) {
    writeFileSync(file, intact);
    overwrite(page * PAGE, randomBytes(PAGE));
    try {
      const store = await open();
      // The page is free: nothing is lost.
      const table = tableOf(store);
      for (let row = 0; row < ROWS; row++) expect(table.get(`row-${row}`)).toBeDefined();
      await store.root.transaction(() => table.put('another', { text: '' }));
    } catch (error) {
      expect(String(error)).toContain(`${file} is damaged`);
      refused += 1;
    } finally {
      await closeAll();
    }
  }
  expect(refused).toBeGreaterThan(5);
});

test('a store that is in order is never taken for damaged while another one writes to it', async () => {
  const store = await open();
  const table = tableOf(store);
  const fd = openSync(file, 'r');
  let checks = 0;
  const check = () => {
    checks += 1;
    expect(findDamage(fd, 100_000)).toBeUndefined();
  };
  check();
  await fill(store, table);
  check();
  for (let round = 0; round < 20; round++) {
    // Not awaited at once: pages are checked while it is being committed.
    const committed = store.root.transaction(() => {
      for (let row = round; row < ROWS; row += 20) {
        if (row % 3 === 0) table.remove(`row-${row}`);
        else table.put(`row-${row}`, { text: 'text'.repeat(row % 1_000) });
      }
    });
    setImmediate(check);
    await committed;
    check();
  }
  closeSync(fd);
  expect(checks).toBeGreaterThan(20);
});

test('a check looks at as many pages as it may, however many long values there are', async () => {
  const store = await open();
  const table = tableOf(store);
  await store.root.transaction(() => {
    for (let row = 0; row < ROWS; row++) table.put(`row-${row}`, { text: 'text'.repeat(1_000) });
  });
  const fd = openSync(file, 'r');
  const reads = (maxPages: number) => {
    const spy = jest.spyOn(fs, 'readSync');
    expect(findDamage(fd, maxPages)).toBeUndefined();
    const count = spy.mock.calls.length;
    spy.mockRestore();
    return count;
  };
  // The first two pages, which point to the trees, are read as well.
  expect(reads(100)).toBe(102);
  expect(reads(Number.POSITIVE_INFINITY)).toBeGreaterThan(ROWS);
  closeSync(fd);
});

test('a value that cannot be decoded fails its own read as an outage, and the store is not ready', async () => {
  const store = await open();
  const table = tableOf(store);
  await store.root.transaction(() => {
    table.put('good', { text: 'good' });
    table.put('bad', { text: 'value-to-find' });
  });
  await expect(store.ready()).resolves.toBeUndefined();
  overwrite(readFileSync(file).lastIndexOf('"value-to-find'), Buffer.from('"value\0to-find'));
  const read = () => table.get('bad');
  expect(read).toThrow(`${file} is damaged`);
  expect(isOutage(errorOf(read))).toBe(true);
  expect(table.get('good')).toEqual({ text: 'good' });
  await expect(store.ready()).rejects.toThrow(`${file} is damaged`);
});

test('a file that is cut off while it is in use: reads and writes fail as an outage', async () => {
  const store = await open();
  const table = tableOf(store);
  await fill(store, table);
  expect(table.get('row-1')).toBeDefined();
  truncateSync(file, 2 * PAGE);
  const read = () => table.get(`row-${ROWS - 1}`);
  // The file is looked at every 2 ms.
  const cutAt = performance.now();
  await until(() => performance.now() > cutAt + 20);
  expect(read).toThrow('it has been cut off');
  expect(isOutage(errorOf(read))).toBe(true);
  expect(() => [...table.getRange()]).toThrow('it has been cut off');
  await expect(store.root.transaction(() => table.put('a', { text: '' }))).rejects.toThrow(
    'it has been cut off',
  );
});

test('pages that are overwritten while the store is in use are not read, and make it not ready', async () => {
  const store = await open();
  const table = tableOf(store);
  await fill(store, table);
  // Checks rest in proportion to what they took, because of the writes.
  const filledAt = performance.now();
  await until(() => performance.now() > filledAt + 500);
  expect(table.get('row-1')).toBeDefined();
  overwrite(2 * PAGE, randomBytes(statSync(file).size - 2 * PAGE));
  const writtenAt = performance.now();
  await until(() => performance.now() > writtenAt + 500);
  expect(() => table.get('row-1')).toThrow(`${file} is damaged`);
  await expect(store.ready()).rejects.toThrow(`${file} is damaged`);
});

test('a missing lock file, or one of another size, does not prevent a start', async () => {
  await makeStore();
  expect(readdirSync(join(folder.path, 'keys'))).toContain('lock.mdb');
  truncateSync(join(folder.path, 'keys', 'lock.mdb'), 10);
  const store = await open();
  expect(tableOf(store).get('row-1')).toBeDefined();
});

function errorOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('it did not throw');
}
