// The version of this project, and the commit that it was built from.
import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export function ownVersion(): string {
  return manifest().version;
}

/** The commit of the package, or of the clone that this runs from; `unknown` elsewhere. */
export function ownCommit(): string {
  return manifest().gitHead ?? commitOfClone() ?? 'unknown';
}

function manifest(): { version: string; gitHead?: string } {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
}

/** Reads the last line of git's log of HEAD: calling git would add 10 ms to each start. */
function commitOfClone(): string | undefined {
  try {
    const git = join(ROOT, '.git');
    const isFile = statSync(git).isFile(); // In a worktree, it names the folder.
    const folder = isFile ? readFileSync(git, 'utf8').trim().replace('gitdir: ', '') : git;
    const log = readFileSync(resolve(ROOT, folder, 'logs/HEAD'), 'utf8');
    return log.trim().split('\n').at(-1)?.split(' ')[1];
  } catch {
    return undefined;
  }
}
