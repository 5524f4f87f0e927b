// Installs what the benchmark compares with, when it is first needed.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { say } from './rounds.ts';

/** Hive Gateway is left out where it does not install. */
export function installPeers(): void {
  for (const folder of ['.', 'peers/mercurius', 'peers/hive']) {
    const path = join(import.meta.dirname, folder);
    if (installed(path)) continue;
    say(`installing bench/${folder} ...`);
    try {
      execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
        cwd: path,
        stdio: ['ignore', 2, 2],
      });
    } catch (error) {
      if (folder !== 'peers/hive') throw error;
      say('Hive Gateway does not install here');
    }
  }
}

// npm writes this file last; older than the lock, it is of another installation.
function installed(path: string): boolean {
  const done = join(path, 'node_modules/.package-lock.json');
  return (
    existsSync(done) && statSync(done).mtimeMs >= statSync(join(path, 'package-lock.json')).mtimeMs
  );
}
