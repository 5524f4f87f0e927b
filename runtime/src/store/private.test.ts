// Who may read the embedded store, as the modes of its files and folders say it.
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { openLmdb } from './lmdb.ts';
import { makeFolder, makePrivateFolder } from './private.ts';

let folder: ReturnType<typeof temporaryFolder>;
let dataDir: string;
beforeEach(() => {
  folder = temporaryFolder();
  dataDir = join(folder.path, 'data', 'sandbox');
});
afterEach(() => folder.remove());

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

test.each([
  ['000', 0o000],
  ['022', 0o022],
  ['077', 0o077],
])(
  'another user of the machine reads the store: its files are 0600 and its folders 0700 with umask %s',
  async (_, umask) => {
    const before = process.umask(umask);
    try {
      await openAndClose();
    } finally {
      process.umask(before);
    }
    expect(modeOf(folder.path, 'data')).toBe('700');
    expect(modeOf(dataDir)).toBe('700');
    expect(modesUnder(dataDir)).toEqual(PRIVATE);
  },
);

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

test.each(['/proc/none/data', '/dev/null/data'])(
  '%s cannot be made, which shows at once',
  (path) => {
    expect(() => makeFolder(path)).toThrow(/mkdir/);
    expect(() => makePrivateFolder(path, 'keys')).toThrow(`DATA_DIR ${path} cannot be made: E`);
  },
);
