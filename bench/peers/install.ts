// Installs the peers on first use.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { aptInstall, findCommand } from '../../test/support/servers/debian.ts';
import { progress } from '../run/progress.ts';

const BENCH = resolve(import.meta.dirname, '..');
const FOLDERS = ['.', 'peers/mercurius', 'peers/hive'];

/** Installs Node 24, and Apollo's packages. Rejects without wrk where apt cannot install it. */
export async function installTools(): Promise<void> {
  if (findCommand('wrk') === undefined) await aptInstall('wrk');
  install('.');
}

/** Installs every peer too. */
export async function installPeers(): Promise<void> {
  await installTools();
  for (const folder of FOLDERS) install(folder);
}

/** Each dependency of the benchmark with its version. */
export function peerVersions(): string[] {
  return FOLDERS.flatMap((folder) => {
    const { dependencies } = JSON.parse(readFileSync(join(BENCH, folder, 'package.json'), 'utf8'));
    return Object.entries(dependencies).map(([name, version]) => `${name} ${version}`);
  });
}

function install(folder: string): void {
  const path = join(BENCH, folder);
  if (isInstalled(path)) return;
  progress(`installing bench/${folder} ...`);
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: path,
    stdio: ['ignore', 2, 2],
  });
}

// npm writes this file last. If it is older than the lock file, it is from an earlier installation.
function isInstalled(path: string): boolean {
  const last = join(path, 'node_modules/.package-lock.json');
  const lock = join(path, 'package-lock.json');
  return existsSync(last) && statSync(last).mtimeMs >= statSync(lock).mtimeMs;
}
