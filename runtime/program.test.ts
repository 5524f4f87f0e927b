// What the launcher runs after sources have changed, in a copied checkout, and without its cache.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../test/support/folder.ts';
import { run } from '../test/support/servers/process.ts';

const CACHE = 'node_modules/.cache';
const NEEDED = ['esbuild', 'tsx'];
const MODULES = join(import.meta.dirname, '../node_modules');

const folder = temporaryFolder();
let checkout: string;

afterAll(folder.remove);

/** A checkout whose program prints what it imports, its folder and its arguments. */
beforeEach(() => {
  checkout = join(folder.path, 'check out #1 (ü)');
  rmSync(folder.path, { recursive: true, force: true });
  mkdirSync(join(checkout, 'node_modules'), { recursive: true });
  for (const name of NEEDED) symlinkSync(join(MODULES, name), join(checkout, 'node_modules', name));
  mkdirSync(join(checkout, 'runtime'));
  for (const file of ['run.js', 'program.js', 'bundle.js', 'stacktraces.js'])
    cpSync(join(import.meta.dirname, file), join(checkout, 'runtime', file));
  writeFileSync(join(checkout, 'package.json'), '{ "type": "module" }');
  writeMain(
    `import { word } from './word.ts';
     const args: readonly string[] = process.argv.slice(2);
     console.log(JSON.stringify([word, import.meta.dirname, args]));`,
  );
  writeWord('one');
});

function writeMain(text: string): void {
  writeFileSync(join(checkout, 'main.ts'), text);
}

function writeWord(word: string): void {
  writeFileSync(join(checkout, 'word.ts'), `export const word: string = '${word}';`);
}

async function start(root: string, ...args: string[]): Promise<unknown> {
  return JSON.parse(
    await run('node', [join(root, 'runtime/run.js'), join(root, 'main.ts'), ...args]),
  );
}

function builds(root: string): string[] {
  if (!existsSync(join(root, CACHE))) return [];
  const files = readdirSync(join(root, CACHE), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('main.mjs'));
}

test('a program with its arguments, which is built once and again when a source has changed', async () => {
  expect(await start(checkout, 'a', '--b')).toEqual(['one', checkout, ['a', '--b']]);
  const first = builds(checkout);
  expect(first).toHaveLength(1);
  expect(await start(checkout)).toEqual(['one', checkout, []]);
  expect(builds(checkout)).toEqual(first);
  writeWord('other');
  expect(await start(checkout)).toEqual(['other', checkout, []]);
});

/** Installs a package that has this word. */
function install(word: string): void {
  const modules = join(checkout, 'node_modules');
  mkdirSync(join(modules, 'words'), { recursive: true });
  writeFileSync(join(modules, 'words/package.json'), '{}');
  writeFileSync(join(modules, 'words/index.js'), `exports.word = '${word}';`);
  writeFileSync(join(modules, '.package-lock.json'), JSON.stringify({ word }));
}

test('a package that is installed anew', async () => {
  writeMain(`import { word } from 'words'; console.log(JSON.stringify(word));`);
  install('one');
  expect(await start(checkout)).toBe('one');
  install('other');
  expect(await start(checkout)).toBe('other');
});

test('a package that is imported on first use, which a bundle must not lose the names of', async () => {
  install('one');
  writeMain(`const { word } = await import('words'); console.log(JSON.stringify(word));`);
  const started = start(checkout);
  await expect(started).rejects.toThrow('import a file of ours that imports the package');
});

test('stack traces name the lines of the sources', async () => {
  writeMain(`import { readFileSync } from 'node:fs';
    interface Read { (file: number[]): unknown }
    const read: Read = (file) => readFileSync(file as never);
    try { read([]); } catch (error) { console.log(JSON.stringify((error as Error).stack)); }`);
  const stack = await start(checkout);
  expect(stack).toMatch(/^TypeError \[ERR_INVALID_ARG_TYPE\]: The "path" argument/);
  // Without a bundle, Node names the source, with escapes in its folder.
  const source = join(checkout, 'main.ts');
  expect(stack).toContain(`${source}:3:`);
  expect(stack).toContain(`${source}:4:`);
});

test('a checkout that was copied together with its cache, or moved', async () => {
  await start(checkout);
  const [copy, moved] = [join(folder.path, 'copy'), join(folder.path, 'moved')];
  cpSync(checkout, copy, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  expect(await start(copy)).toEqual(['one', copy, []]);
  renameSync(checkout, moved);
  expect(await start(moved)).toEqual(['one', moved, []]);
});

test('a cache that cannot be written', async () => {
  writeFileSync(join(checkout, CACHE), '');
  expect(await start(checkout)).toEqual(['one', checkout, []]);
});
