// Installs Debian packages if the machine allows it, that is, on Debian as root.
import { existsSync } from 'node:fs';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { run } from './process.ts';

/** The path of a command, or undefined if it is not on PATH. */
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

/**
 * Installs a package, unless its command, by default of the same name, is there already. Starts
 * none of the package's services.
 */
export async function aptInstall(name: string, command = name): Promise<void> {
  if (findCommand(command)) return;
  // Debian's packages run this script before they start a service; exit code 101 forbids the start.
  const policy = '/usr/sbin/policy-rc.d';
  const needsPolicy = !existsSync(policy);
  if (needsPolicy) {
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
    if (needsPolicy) await rm(policy);
  }
}
