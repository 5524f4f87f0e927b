// Files of the embedded store: who may read them, what damages them, and how they are rewritten.

import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { until } from '../../../test/support/until.ts';
import { createLog } from '../observe/log.ts';
import { clearErased } from '../process/erased.open.ts';
import { backupStores } from './backup.lmdb.ts';
import { type EmbeddedStore, openLmdb } from './lmdb.ts';
import { holdDataDir, oneErasureAtATime, withDataDirAlone } from './lock.lmdb.ts';
import { isOutage } from './outage.ts';
import { makeFolder, makePrivateFolder } from './private.ts';
import { markErased, rewriteErased, rewriteStores } from './rewrite.lmdb.ts';

let folder: ReturnType<typeof temporaryFolder>;
const opened: EmbeddedStore[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await closeAll();
  folder.remove();
});

async function openIn(dataDir: string, name: 'keys' | 'members'): Promise<EmbeddedStore> {
  const store = await openLmdb(dataDir, name, 'sandbox');
  opened.push(store);
  return store;
}

async function closeAll(): Promise<void> {
  for (const { root } of opened.splice(0)) await root.close();
}

// Who may read the embedded store, as the modes of its files and folders say it.
describe('private', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = join(folder.path, 'data', 'sandbox');
  });

  const modeOf = (...path: string[]) => (statSync(join(...path)).mode & 0o777).toString(8);

  /** The modes of all that is under a folder, by path. */
  function modesUnder(path: string): Record<string, string> {
    const entries = readdirSync(path, { recursive: true, encoding: 'utf8' });
    return Object.fromEntries(entries.map((entry) => [entry, modeOf(path, entry)]));
  }

  async function openAndClose(): Promise<void> {
    const { root } = await openLmdb(dataDir, 'keys', 'sandbox');
    await root.close();
  }

  const PRIVATE = {
    keys: '700',
    'keys/data.mdb': '600',
    'keys/lock.mdb': '600',
    lock: '700',
    'lock/data.mdb': '600',
    'lock/lock.mdb': '600',
  };

  test('another user of the machine reads the store: its files are 0600 and its folders 0700 with any umask', async () => {
    const before = process.umask(0);
    try {
      await openAndClose();
    } finally {
      process.umask(before);
    }
    expect(modeOf(folder.path, 'data')).toBe('700');
    expect(modeOf(dataDir)).toBe('700');
    expect(modesUnder(dataDir)).toEqual(PRIVATE);
  });

  test('a store that everyone can read is closed to others when it is opened', async () => {
    await openAndClose();
    chmodSync(dataDir, 0o755);
    for (const [path, mode] of Object.entries(PRIVATE))
      chmodSync(join(dataDir, path), mode === '700' ? 0o755 : 0o664);
    await openAndClose();
    expect(modeOf(dataDir)).toBe('700');
    expect(modesUnder(dataDir)).toEqual(PRIVATE);
  });

  test('a data folder that contains something else keeps its mode', async () => {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'other'), '');
    chmodSync(dataDir, 0o755);
    await openAndClose();
    expect(modeOf(dataDir)).toBe('755');
    expect(modeOf(dataDir, 'keys')).toBe('700');
  });

  test('a link in the folder does not change what it leads to', () => {
    const other = join(folder.path, 'other');
    writeFileSync(other, '', { mode: 0o644 });
    makePrivateFolder(dataDir, 'outbox');
    writeFileSync(join(dataDir, 'outbox', 'a.eml'), '', { mode: 0o644 });
    symlinkSync(other, join(dataDir, 'outbox', 'link.eml'));
    makePrivateFolder(dataDir, 'outbox');
    expect(modeOf(dataDir, 'outbox', 'a.eml')).toBe('600');
    expect(modeOf(other)).toBe('644');
  });

  test('a folder that cannot be made shows at once', () => {
    const path = '/dev/null/data';
    expect(() => makeFolder(path)).toThrow(/mkdir/);
    expect(() => makePrivateFolder(path, 'keys')).toThrow(`DATA_DIR ${path} cannot be made: E`);
  });
});

// Damage of the embedded store's file, found when it is opened and while it is in use.
describe('health', () => {
  const PAGE = 4_096;
  const ROWS = 3_000;

  let file: string;
  beforeEach(() => {
    file = join(folder.path, 'keys', 'data.mdb');
  });
  const open = () => openIn(folder.path, 'keys');

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

  test('a file that another process has only just made is waited for', async () => {
    await makeStore();
    const [whole, target] = [`${file}.whole`, file].map((one) => JSON.stringify(one));
    writeFileSync(`${file}.whole`, readFileSync(file));
    truncateSync(file, 0);
    const script = `setTimeout(() => fs.writeFileSync(${target}, fs.readFileSync(${whole})), 500)`;
    const writer = spawn(process.execPath, ['-e', `${script}; console.log()`]);
    await once(writer.stdout, 'data');
    await expect((await open()).ready()).resolves.toBeUndefined();
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
});

// Rewriting embedded stores: what was deleted is in no file, and nothing else is lost.
describe('rewrite', () => {
  const ROWS = 2_000;
  /** Longer than what chance spells. */
  const SECRET = 'a-secret-to-erase';

  let dataDir: string;
  const children: ChildProcessWithoutNullStreams[] = [];
  beforeEach(() => {
    dataDir = join(folder.path, 'data');
    mkdirSync(dataDir);
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  async function open() {
    const { root } = await openIn(dataDir, 'members');
    return {
      root,
      json: root.openDB<{ text: string }, string>({ name: 'json', encoding: 'json' }),
      packed: root.openDB<unknown, [string, number]>({ name: 'packed' }),
      binary: root.openDB<Buffer, string>({ name: 'binary', encoding: 'binary' }),
    };
  }

  const secretKey = (row: number) => `${SECRET}-${row}`;

  /** Rows of all sizes and encodings; every tenth is a secret, and deleted. */
  async function fill(): Promise<void> {
    const { root, json, packed, binary } = await open();
    for (let first = 0; first < ROWS; first += 500)
      await root.transaction(() => {
        for (let row = first; row < first + 500; row++) {
          json.put(row % 10 === 0 ? secretKey(row) : `row-${row}`, { text: 'x'.repeat(row * 3) });
          packed.put([row % 10 === 0 ? SECRET : 'row', row], { row, list: [row] });
          binary.put(`b${row}`, Buffer.from(row % 10 === 0 ? SECRET : [row % 256]));
        }
        root.put('markKey', 'kept');
      });
    await root.transaction(() => {
      for (let row = 0; row < ROWS; row += 10) {
        json.remove(secretKey(row));
        packed.remove([SECRET, row]);
        binary.remove(`b${row}`);
      }
    });
    markErased(dataDir, 'members');
    await closeAll();
  }

  async function expectRows(): Promise<void> {
    const { root, json, packed, binary } = await open();
    expect(root.get('markKey')).toBe('kept');
    expect([json, packed, binary].map((table) => table.getKeysCount())).toEqual(
      Array(3).fill(ROWS * 0.9),
    );
    for (let row = 0; row < ROWS; row++) {
      if (row % 10 === 0) continue;
      expect(json.get(`row-${row}`)?.text.length).toBe(row * 3);
      expect(packed.get(['row', row])).toEqual({ row, list: [row] });
      expect(binary.get(`b${row}`)).toEqual(Buffer.from([row % 256]));
    }
    await closeAll();
  }

  /** The bytes of every file under a folder. */
  function bytesUnder(path: string): string {
    return readdirSync(path, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
      .join('\n');
  }

  const filesOf = (path: string) => readdirSync(join(path, 'members')).sort();

  test('what was deleted is in no file afterwards, nor in a backup, and the rest is as it was', async () => {
    await fill();
    expect(bytesUnder(dataDir)).toContain(SECRET);
    const copy = join(folder.path, 'copy');
    await backupStores(dataDir, 'sandbox', copy);
    expect([filesOf(copy), bytesUnder(copy).includes(SECRET)]).toEqual([['data.mdb'], false]);
    const before = statSync(join(dataDir, 'members', 'data.mdb')).size;
    const [rewritten] = (await rewriteErased(dataDir, 'sandbox')) ?? [];
    const { size, mode } = statSync(join(dataDir, 'members', 'data.mdb'));
    expect(rewritten).toEqual({ store: 'members', bytesBefore: before, bytes: size });
    expect((mode & 0o777).toString(8)).toBe('600');
    expect(bytesUnder(dataDir)).not.toContain(SECRET);
    expect(filesOf(dataDir)).toEqual(['data.mdb', 'lock.mdb']);
    await expectRows();
    // Nothing has been erased since.
    expect(await rewriteErased(dataDir, 'sandbox')).toEqual([]);
    dataDir = copy;
    await expectRows();
  });

  test('a start rewrites what was erased, and what cannot be rewritten does not prevent it', async () => {
    await fill();
    const settings = { dataDir, environment: 'production', mongodbUrl: undefined } as const;
    await clearErased(settings, createLog('silent'));
    expect(bytesUnder(dataDir)).toContain(SECRET);
    await expectRows();
    await clearErased({ ...settings, environment: 'sandbox' }, createLog('silent'));
    expect(bytesUnder(dataDir)).not.toContain(SECRET);
    await expectRows();
  });

  test('beside a store that is open, nothing is rewritten', async () => {
    await fill();
    const { root } = await open();
    expect(await rewriteStores(dataDir, 'sandbox')).toBeUndefined();
    expect(await rewriteErased(dataDir, 'sandbox')).toBeUndefined();
    await root.close();
    expect(await rewriteStores(dataDir, 'sandbox')).toHaveLength(1);
  });

  test('its progress ends with as many records as there are, and is never beyond', async () => {
    await fill();
    const reported: [records: number, total: number][] = [];
    await rewriteStores(dataDir, 'sandbox', (_, ...progress) => reported.push(progress));
    const total = 3 * ROWS * 0.9;
    expect(reported.at(-1)).toEqual([total, total]);
    expect(reported.filter(([records]) => records > total)).toEqual([]);
  });

  /** A process that holds the data folder until it is killed. */
  function startHolder() {
    const script = `
    import { holdDataDir } from ${JSON.stringify(join(import.meta.dirname, 'lock.lmdb.ts'))};
    process.stdout.write('begun\\n');
    await holdDataDir(${JSON.stringify(dataDir)});
    process.stdout.write('held\\n');
    setInterval(() => {}, 1_000);`;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
    children.push(child);
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    return { child, has: (line: string) => output.includes(line) };
  }

  test('a process that opens a store waits for one that has the stores alone', async () => {
    const holder = await withDataDirAlone(dataDir, async () => {
      const started = startHolder();
      await until(() => started.has('begun'));
      const begunAt = performance.now();
      await until(() => performance.now() > begunAt + 200);
      expect(started.has('held')).toBe(false);
      return started;
    });
    await until(() => holder?.has('held') === true);
    expect(await withDataDirAlone(dataDir, async () => 'alone')).toBeUndefined();
  });

  test('a process that was killed no longer has a store open', async () => {
    const { child, has } = startHolder();
    await until(() => has('held'));
    // Otherwise the next one to open the lock would begin with an empty table of readers.
    const other = await holdDataDir(dataDir);
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
    await other.release();
    expect(await withDataDirAlone(dataDir, async () => 'alone')).toBe('alone');
  });

  test('what a process was reading that was killed is used again', async () => {
    const { root } = await openIn(dataDir, 'keys');
    const path = join(dataDir, 'keys');
    const script = `
    const db = require('lmdb').open({ path: ${JSON.stringify(path)} });
    db.get('key');
    process.kill(process.pid, 'SIGKILL');`;
    const reader = spawn(process.execPath, ['-e', script], { cwd: import.meta.dirname });
    await once(reader, 'close');
    expect(root.readerList()).toContain(String(reader.pid));
    const size = () => statSync(join(path, 'data.mdb')).size;
    const write = (place: number) =>
      root.transaction(() => void root.put(`key${place % 50}`, 'x'.repeat(1_000)));
    for (let place = 0; place < 1_000; place += 1) await write(place);
    const before = size();
    for (let place = 0; place < 1_000; place += 1) await write(place);
    expect(size()).toBe(before);
  });

  test.each([
    ['empty', () => Buffer.alloc(0)],
    ['cut off', (whole: Buffer) => whole.subarray(0, whole.length / 2)],
    ['overwritten', (whole: Buffer) => Buffer.alloc(whole.length, 'x')],
    ['damaged', (whole: Buffer) => whole.fill(0xa5, 64, 256)],
  ])('a lock that is %s is made anew, and still keeps others out', async (_, damage) => {
    const { child, has } = startHolder();
    await until(() => has('held'));
    for (const name of ['lock', 'lock/erasing']) {
      await oneErasureAtATime(dataDir, async () => {});
      const file = join(dataDir, name, 'data.mdb');
      // A backup or an editor replaces the file, so the holder keeps the one that it has open.
      const content = damage(readFileSync(file));
      rmSync(file);
      writeFileSync(file, content);
    }
    expect(await withDataDirAlone(dataDir, async () => 'alone')).toBeUndefined();
    expect(await oneErasureAtATime(dataDir, async () => 'erased')).toBe('erased');
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
    expect(await withDataDirAlone(dataDir, async () => 'alone')).toBe('alone');
  });

  test('killed at any point, it leaves each store complete, and the next start clears what is left', async () => {
    await fill();
    for (let round = 0; round < 4; round++) {
      const script = join(import.meta.dirname, '../../../test/support/store/rewrite.ts');
      const child = spawn(process.execPath, ['--import', 'tsx', script, dataDir]);
      children.push(child);
      const ended = once(child, 'close');
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      await lines.next();
      child.stdin.write('\n');
      await lines.next();
      // It rewrites over and over, so it is killed at another step each time.
      const killAt = performance.now() + Math.random() * 100;
      await until(() => performance.now() > killAt);
      child.kill('SIGKILL');
      await ended;
      await expectRows();
      markErased(dataDir, 'members');
      await rewriteErased(dataDir, 'sandbox');
      expect(bytesUnder(dataDir)).not.toContain(SECRET);
      expect(filesOf(dataDir)).toEqual(['data.mdb', 'lock.mdb']);
    }
    // A copy that was never finished, of a store that nothing was erased from.
    mkdirSync(join(dataDir, 'members', 'copy', 'members'), { recursive: true });
    writeFileSync(join(dataDir, 'members', 'copy', 'members', 'data.mdb'), SECRET);
    await rewriteErased(dataDir, 'sandbox');
    expect(existsSync(join(dataDir, 'members', 'copy'))).toBe(false);
    await expectRows();
  });

  // In a process of its own, since what could go wrong blocks the process.
  test('a process opens several stores, and one several times, at once', () => {
    const program = `
    import { openLmdb } from ${JSON.stringify(join(import.meta.dirname, 'lmdb.ts'))};
    const names = ['members', 'standings', 'keys', 'members', 'standings', 'keys'];
    const open = (name) => openLmdb(${JSON.stringify(dataDir)}, name, 'sandbox');
    const stores = await Promise.all(names.map(open));
    for (const { root } of stores) await root.close();
    console.log(stores.length);
  `;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', program];
    const options = { encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' } as const;
    expect(execFileSync(process.execPath, args, options).trim()).toBe('6');
  });
});
