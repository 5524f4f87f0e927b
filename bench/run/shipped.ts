// How this project is shipped: the command lines of the `npm start` scripts in a checkout.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The working tree. */
export const ROOT = resolve(import.meta.dirname, '../..');

const ENV_FILE = '--env-file=';
/** What runs TypeScript; in older commits, it is a loader. */
const LAUNCHER = 'runtime/run.js';
const LOADER = ['--import', 'tsx'];

/** What `npm start` in a folder passes to node, with absolute paths. */
export function startArgs(root: string, folder: string): string[] {
  const { flags, main } = startScript(root, folder);
  return [...flags, join(root, folder, main)];
}

/** What runs a script of bench/servers, with the shipped gateway's flags of node. */
export function benchServer(root: string, file: string, options: unknown): string[] {
  const { flags } = startScript(root, 'gateway');
  return [...flags, join(root, 'bench/servers', file), JSON.stringify(options)];
}

/** Those flags without what runs TypeScript, to run plain JavaScript with. */
export function plainNodeFlags(): string[] {
  const { flags } = startScript(ROOT, 'gateway');
  return flags.filter((flag) => !LOADER.includes(flag) && !flag.endsWith(LAUNCHER));
}

function startScript(root: string, folder: string): { flags: string[]; main: string } {
  const { scripts } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const words: string[] = scripts.start.split(' ');
  const flags = words.slice(words.indexOf('node') + 1, -1).map((flag) => {
    if (flag.startsWith(ENV_FILE))
      return `${ENV_FILE}${join(root, folder, flag.slice(ENV_FILE.length))}`;
    return flag.endsWith(LAUNCHER) ? join(root, folder, flag) : flag;
  });
  return { flags, main: words.at(-1) ?? '' };
}
