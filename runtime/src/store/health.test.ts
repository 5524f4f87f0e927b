// Damage of the embedded store's file, found when it is opened and while it is in use.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
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
  ['was replaced by text', () => writeFileSync(file, 'no store\n'.repeat(10_000))],
  ['was replaced by zeros', () => writeFileSync(file, Buffer.alloc(statSync(file).size))],
  ['has random bytes in its first page', () => overwrite(0, randomBytes(PAGE))],
  ['has random bytes in its second page', () => overwrite(PAGE, randomBytes(PAGE))],
  ['has random bytes in its first 16 pages', () => overwrite(0, randomBytes(16 * PAGE))],
])('a store whose file %s is refused by an error that names the file', async (_, damage) => {
  await makeStore();
  damage();
  await expect(openLmdb(folder.path, 'keys', 'sandbox')).rejects.toThrow(`${file} is damaged: `);
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

test('a missing lock file, or one of another size, does not prevent a start', async () => {
  await makeStore();
  expect(readdirSync(join(folder.path, 'keys'))).toContain('lock.mdb');
  truncateSync(join(folder.path, 'keys', 'lock.mdb'), 10);
  const store = await open();
  expect(tableOf(store).get('row-1')).toBeDefined();
});

test.each(['data.mdb', 'lock.mdb'])('a folder in the place of %s is named', async (name) => {
  const path = join(folder.path, 'keys', name);
  mkdirSync(path, { recursive: true });
  await expect(open()).rejects.toThrow(`${path} is a folder`);
});

function errorOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('it did not throw');
}
