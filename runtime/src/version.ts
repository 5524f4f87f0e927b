// The version of this project, and the commit that it was built from.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** As package.json has it. */
export function ownVersion(): string {
  return manifest().version;
}

/** The commit of the package, or of the clone that this runs from; `unknown` elsewhere. */
export function ownCommit(): string {
  return manifest().gitHead ?? commitOfClone() ?? 'unknown';
}

function manifest(): { version: string; gitHead?: string } {
  return JSON.parse(lineIn(ROOT, 'package.json'));
}

/** Read from git's files: asking git takes longer than the rest of the settings. */
function commitOfClone(): string | undefined {
  try {
    const own = join(ROOT, '.git');
    const isWorktree = statSync(own).isFile();
    const folder = isWorktree ? resolve(ROOT, lineIn(own).replace('gitdir: ', '')) : own;
    const [, ref] = /^ref: (.*)$/.exec(lineIn(folder, 'HEAD')) ?? [];
    if (ref === undefined) return lineIn(folder, 'HEAD');
    const shared = isWorktree ? resolve(folder, lineIn(folder, 'commondir')) : folder;
    if (existsSync(join(shared, ref))) return lineIn(shared, ref);
    const packed = lineIn(shared, 'packed-refs').split('\n');
    return packed.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0];
  } catch {
    return undefined;
  }
}

function lineIn(...path: string[]): string {
  return readFileSync(join(...path), 'utf8').trim();
}
