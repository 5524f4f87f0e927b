// Joins each program that tests start with its packages into a few JavaScript files.
//
// On Node 20, loading 2,000 files, those in TypeScript through tsx, is more than half of what a
// start of the service costs. On Node 24, and with npm and npx, tests start what users start.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type PluginBuild, stop } from 'esbuild';
import { temporaryFolder } from '../folder.ts';
import { PROGRAMS, ROOT, RUNS_TYPESCRIPT } from './programs.ts';

const PLANNER = 'gateway/src/planning/worker.ts';
const PLANNER_STARTS = "join(import.meta.dirname, 'boot.cjs')";
/** Packages that load native code, or threads, from where they are. */
const IN_PLACE = /^(lmdb|msgpackr|pino|thread-stream|undici|oidc-provider)(\/|$)/;
/** What a package in CommonJS expects to find. */
const COMMONJS =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/**
 * Builds them into a folder, and sets PROGRAMS_FOLDER to it. Does nothing on a Node that runs
 * TypeScript, or if it has done so already.
 */
export async function buildPrograms(): Promise<{ remove(): void } | undefined> {
  if (RUNS_TYPESCRIPT || process.env.PROGRAMS_FOLDER) return undefined;
  const folder = temporaryFolder();
  await build({
    entryPoints: [...PROGRAMS, PLANNER],
    absWorkingDir: ROOT,
    outbase: ROOT,
    outdir: folder.path,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    banner: { js: COMMONJS },
    // Without this, esbuild would choose files by a condition that Node does not know.
    conditions: ['node-addons'],
    logLevel: 'error',
    plugins: [{ name: 'places', setup: (own) => keepPlaces(own, folder.path) }],
  });
  await stop();
  process.env.PROGRAMS_FOLDER = folder.path;
  return folder;
}

/** What finds other files by its own place still finds them. */
function keepPlaces(own: PluginBuild, folder: string): void {
  own.onResolve({ filter: IN_PLACE }, async ({ path, pluginData, ...from }) => {
    if (pluginData === own) return undefined;
    const { resolveDir, importer, kind } = from;
    const found = await own.resolve(path, { resolveDir, importer, kind, pluginData: own });
    const isRequired = kind === 'require-call';
    return { path: isRequired ? found.path : pathToFileURL(found.path).href, external: true };
  });
  own.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
    const planner = join(folder, PLANNER.replace(/ts$/, 'mjs'));
    const text = (await readFile(path, 'utf8'))
      .replace(PLANNER_STARTS, JSON.stringify(planner))
      .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
    if (/\bimport\.meta\b|\bboot\.cjs/.test(text))
      throw new Error(`${path}: test/support/programs/build.ts cannot move this file`);
    return { contents: text, loader: 'ts' };
  });
}
