// The version of this project, and the commit that it was built from.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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

function commitOfClone(): string | undefined {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' });
  return stdout?.trim() || undefined;
}
