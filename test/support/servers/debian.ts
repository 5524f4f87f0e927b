// Installs Debian packages where the machine allows it: Debian, as root.
import { existsSync } from 'node:fs';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { run } from './process.ts';

/** The path of a command, or undefined where PATH does not have it. */
export function findCommand(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Whether aptInstall can work here. */
export async function isDebianRoot(): Promise<boolean> {
  return (
    process.getuid?.() === 0 &&
    /^ID=debian$/m.test(await readFile('/etc/os-release', 'utf8').catch(() => ''))
  );
}

/** Installs the package that has this command, of the same name, unless it is there already. Starts no service of it. */
export async function aptInstall(name: string): Promise<void> {
  if (findCommand(name)) return;
  // Asked by Debian's packages before they start a service; 101 is "not here".
  const policy = '/usr/sbin/policy-rc.d';
  const own = !existsSync(policy);
  if (own) {
    await writeFile(policy, '#!/bin/sh\nexit 101\n');
    await chmod(policy, 0o755);
  }
  try {
    await run('apt-get', ['update', '-q']);
    await run('env', [
      'DEBIAN_FRONTEND=noninteractive',
      'apt-get',
      'install',
      '-qy',
      '--no-install-recommends',
      name,
    ]);
  } finally {
    if (own) await rm(policy);
  }
}
