// Joins each program that tests start into a few JavaScript files, before the tests.
//
// On Node 20, loading TypeScript through tsx is a third of what a start of the service costs. On
// Node 24, and with `npm start` and bin/loyalty.js, tests start what users start.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type OnResolveResult, type PluginBuild, stop } from 'esbuild';
import { temporaryFolder } from '../folder.ts';
import { PROGRAMS, ROOT, RUNS_TYPESCRIPT } from './programs.ts';

const PLANNER = 'gateway/src/planning/worker.ts';
const PLANNER_STARTS = "join(import.meta.dirname, 'boot.cjs')";

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
    // Without this, esbuild would choose files by a condition that Node does not know.
    conditions: ['node-addons'],
    logLevel: 'error',
    plugins: [{ name: 'own code', setup: (own) => joinOwnCode(own, folder.path) }],
  });
  await stop();
  process.env.PROGRAMS_FOLDER = folder.path;
  return folder;
}

/** Own code is joined and finds its data where it was. Packages are imported where they are. */
function joinOwnCode(own: PluginBuild, folder: string): void {
  own.onResolve({ filter: /^[^.]/ }, async ({ path, pluginData, ...from }) => {
    if (from.kind === 'entry-point' || pluginData === own) return undefined;
    const { resolveDir, importer, kind } = from;
    const found = await own.resolve(path, { resolveDir, importer, kind, pluginData: own });
    if (found.external || !found.path.includes('/node_modules/')) return found;
    return { path: pathToFileURL(found.path).href, external: true } satisfies OnResolveResult;
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
