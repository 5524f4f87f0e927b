// Checks out a commit of this repository into a temporary folder, with its dependencies installed.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { progress } from './progress.ts';
import { ROOT } from './shipped.ts';

export type Checkout = {
  /** The short hash of the commit. */
  name: string;
  /** The folder. */
  root: string;
  /** Removes the folder. */
  close(): void;
};

/** Checks out a commit. Throws if there is none, or if its dependencies do not install. */
export function checkOut(commit: string): Checkout {
  const name = git('rev-parse', '--verify', '--short', `${commit}^{commit}`).trim();
  const parent = mkdtempSync(join(tmpdir(), 'bench-commit-'));
  const root = join(parent, name);
  const close = () => {
    rmSync(parent, { recursive: true, force: true });
    git('worktree', 'prune');
  };
  process.once('SIGINT', () => {
    close();
    process.exit(130);
  });
  try {
    progress(`checking out ${name} ...`);
    git('worktree', 'add', '--detach', root, name);
    installDependencies(root);
  } catch (error) {
    close();
    throw error;
  }
  return { name, root, close };
}

function installDependencies(root: string): void {
  if (readLock(root) === readLock(ROOT) && existsSync(join(ROOT, 'node_modules'))) {
    for (const folder of packageFolders()) copyModules(folder, root);
    return;
  }
  progress('installing its dependencies ...');
  const args = ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2] });
}

// A copy, because the links in node_modules/@partner-loyalty must lead to the checkout's packages.
function copyModules(folder: string, root: string): void {
  const from = join(ROOT, folder, 'node_modules');
  if (!existsSync(from)) return;
  cpSync(from, join(root, folder, 'node_modules'), { recursive: true, verbatimSymlinks: true });
}

function packageFolders(): string[] {
  const { workspaces } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return ['.', ...workspaces];
}

function readLock(root: string): string {
  return readFileSync(join(root, 'package-lock.json'), 'utf8');
}

function git(...args: string[]): string {
  return execFileSync('git', ['-C', ROOT, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
