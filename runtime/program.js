// Runs the programs of the service, even on a Node that does not run TypeScript.
//
// For such a Node, it bundles the sources of a program into a few JavaScript files.
//
// Node 20 loads TypeScript through hooks in another thread, which doubles the CPU time of a start
// and takes 50 MB. A bundle is built once, and loaded by all later starts.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import module from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = resolve(import.meta.dirname, '..');

/** The bundles, which later starts use. */
const CACHE = join(ROOT, 'node_modules/.cache/partner-loyalty');

/** Part of the names in the cache. Raise it if the same sources give different files. */
const VERSION = 1;

/** How many builds of a program are kept: a process may still load parts of the one it runs. */
const KEPT_BUILDS = 10;

/** Runs a program, given by its absolute path, in this process or thread. */
export async function runProgram(program) {
  // Node 22 and newer also cache V8's code. It is not an error if the folder cannot be written.
  module.enableCompileCache?.(join(CACHE, 'compiled'));
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(await loadable(program)).href);
}

/**
 * The file to import for a TypeScript program, given by its absolute path: the program itself if
 * Node runs TypeScript, and its bundle otherwise, which is built if there is none or a source has
 * changed. Rejects if a source cannot be built.
 */
export async function loadable(program) {
  if (process.features.typescript) return program;
  const name = relative(ROOT, program).replace(/[^A-Za-z0-9]+/g, '-');
  const folder = join(CACHE, `${name}-${VERSION}`);
  const current = currentBuild(folder);
  if (current !== undefined) return current;
  if (canWrite(folder)) return buildInto(folder, program);
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
    return true;
  } catch {
    return false;
  }
}

/** Processes that start at the same time each build; one of the builds becomes the current one. */
async function buildInto(folder, program) {
  const id = randomUUID();
  const files = await joinSources(program, join(folder, id));
  const sources = files.map((file) => [file, stateOf(file)]);
  const main = join(folder, id, basename(program).replace(/ts$/, 'mjs'));
  await writeFile(join(folder, `${id}.json`), JSON.stringify({ root: ROOT, main, sources }));
  renameSync(join(folder, `${id}.json`), join(folder, 'current.json'));
  removeOldBuilds(folder);
  return main;
}

/** Returns the sources, from the project's root. */
async function joinSources(program, outdir) {
  const { build, stop } = await import('esbuild');
  const { metafile } = await build({
    entryPoints: [program],
    absWorkingDir: ROOT,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    metafile: true,
    sourcemap: 'linked',
    sourcesContent: false,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // Otherwise esbuild would add a condition that Node does not have.
    conditions: ['node-addons'],
    logLevel: 'error',
    plugins: [{ name: 'own code', setup: joinOwnCode }],
  });
  await stop();
  return Object.keys(metafile.inputs);
}

/** Bundles our code, which still finds its data files, and imports packages from their folders. */
function joinOwnCode(own) {
  own.onResolve({ filter: /^[^.]/ }, async ({ path, pluginData, ...from }) => {
    if (from.kind === 'entry-point' || pluginData === own) return undefined;
    const { resolveDir, importer, kind } = from;
    const found = await own.resolve(path, { resolveDir, importer, kind, pluginData: own });
    if (found.external || !found.path.includes('/node_modules/')) return found;
    return { path: pathToFileURL(found.path).href, external: true };
  });
  own.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
    const text = await readFile(path, 'utf8');
    const contents = text.replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
    if (/\bimport\.meta\b/.test(contents))
      throw new Error(`${path}: of import.meta, a program can only use dirname`);
    return { contents, loader: 'ts' };
  });
}

function removeOldBuilds(folder) {
  const builds = readdirSync(folder, { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => join(folder, name))
    .map((path) => ({ path, createdAt: statSync(path).mtimeMs }))
    .sort((a, b) => b.createdAt - a.createdAt);
  for (const { path } of builds.slice(KEPT_BUILDS)) rmSync(path, { recursive: true, force: true });
}
