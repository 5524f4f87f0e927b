// The version before sign-in requests were forwarded to members, in a folder of its own.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './programs.ts';

/** The last commit with the former protocol. It moves when `PROTOCOL` in protocol.ts is raised. */
const PREVIOUS = 'b2888e40e21ccb562f3869929f7210ba91863e6f';

/**
 * Writes the previous version into an empty folder, with the packages that are installed here.
 * Throws if the clone does not have its commit.
 */
export function checkOutPrevious(folder: string): void {
  const tar = join(folder, 'previous.tar');
  try {
    execFileSync('git', ['-C', ROOT, 'archive', '--output', tar, PREVIOUS], { stdio: 'pipe' });
  } catch (cause) {
    throw new Error(`${PREVIOUS} is needed: in a shallow clone, git fetch --unshallow`, { cause });
  }
  execFileSync('tar', ['-xf', tar, '-C', folder]);
  for (const name of ['.', 'runtime', 'gateway', 'bin', 'subgraphs/members', 'subgraphs/standings'])
    linkPackages(join(ROOT, name, 'node_modules'), join(folder, name, 'node_modules'));
}

/** Links to packages; the links to the packages of this repository become those of the folder. */
function linkPackages(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (name === '.cache') continue;
    if (name !== '@partner-loyalty') symlinkSync(join(from, name), join(to, name));
    else cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
  }
}
