// Runs the programs of the service: bundles a program and its packages into a few JavaScript files.
//
// Node 20 loads TypeScript through hooks in another thread, which doubles the CPU time of a start
// and takes 50 MB; Node 24 runs it, but takes 1.6 times the CPU time and 35 MB more. Finding and
// reading the 750 files of packages takes a third of what is left. A bundle is built once, and
// loaded by all later starts.
import { randomUUID } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import module from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.js';
import { traceSources } from './stacktraces.js';

const ROOT = resolve(import.meta.dirname, '..');

/** The images do without it. */
const BUNDLER = join(ROOT, 'node_modules/esbuild');
/** The bundles, which later starts use. */
const CACHE = join(ROOT, 'node_modules/.cache/partner-loyalty');

/** Part of the names in the cache. Raise it if the same sources give different files. */
const VERSION = 4;

/** How many builds of a program are kept: a process may still load parts of the one it runs. */
const KEPT_BUILDS = 10;

/** Written by npm whenever it installs packages: the sources of packages change only then. */
const INSTALLED = 'node_modules/.package-lock.json';

/** Runs a program, given by its absolute path, in this process or thread. */
export async function runProgram(program) {
  // Node 22 and newer also cache V8's code. It is not an error if the folder cannot be written.
  module.enableCompileCache?.(join(CACHE, 'compiled'));
  const file = await loadable(program);
  if (file === program) process.setSourceMapsEnabled(true);
  else traceSources();
  await import(pathToFileURL(file).href);
}

/**
 * The file to import for a TypeScript program, given by its absolute path: its bundle, which is
 * built if there is none or a source has changed. Rejects if a source cannot be built.
 */
export async function loadable(program) {
  const name = relative(ROOT, program).replace(/[^A-Za-z0-9]+/g, '-');
  const folder = join(CACHE, `${name}-${VERSION}`);
  const current = currentBuild(folder);
  if (current !== undefined) return current;
  if (existsSync(BUNDLER) && canWrite(folder)) return buildInto(folder, program);
  if (process.features.typescript) return program;
  const { register } = await import('tsx/esm/api');
  register();
  return program;
}

/** The main file of the last build, unless a source has changed since. */
function currentBuild(folder) {
  try {
    const { root, main, sources } = JSON.parse(readFileSync(join(folder, 'current.json'), 'utf8'));
    // The files name folders of the checkout, which may have been copied or moved since.
    if (root !== ROOT) return undefined;
    return sources.every(([file, state]) => stateOf(file) === state) ? main : undefined;
  } catch {
    return undefined;
  }
}

function stateOf(file) {
  const { mtimeMs, size } = statSync(join(ROOT, file));
  return `${mtimeMs} ${size}`;
}

function canWrite(folder) {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Processes that start at the same time each build; one of the builds becomes the current one. */
async function buildInto(folder, program) {
  const id = randomUUID();
  const inputs = await bundle(program, ROOT, join(folder, id));
  const files = [...inputs, INSTALLED].filter((file) =>
    file === INSTALLED ? existsSync(join(ROOT, file)) : !file.includes('node_modules/'),
  );
  const sources = files.map((file) => [file, stateOf(file)]);
  const main = join(folder, id, basename(program).replace(/ts$/, 'mjs'));
  await writeFile(join(folder, `${id}.json`), JSON.stringify({ root: ROOT, main, sources }));
  renameSync(join(folder, `${id}.json`), join(folder, 'current.json'));
  removeOldBuilds(folder);
  return main;
}

function removeOldBuilds(folder) {
  const builds = readdirSync(folder, { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => join(folder, name))
    .map((path) => ({ path, createdAt: statSync(path).mtimeMs }))
    .sort((a, b) => b.createdAt - a.createdAt);
  for (const { path } of builds.slice(KEPT_BUILDS)) rmSync(path, { recursive: true, force: true });
}
