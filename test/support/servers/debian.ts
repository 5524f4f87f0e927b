// Installs Debian packages if the machine allows it, that is, on Debian as root.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { run } from './process.ts';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

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
 * Installs packages. Starts none of their services. Two installations at a time would fail, since
 * each needs the same lock.
 */
export async function aptInstall(...names: string[]): Promise<void> {
  // Debian's packages run this script before they start a service; exit code 101 forbids the start.
  const policy = '/usr/sbin/policy-rc.d';
  const needsPolicy = !existsSync(policy);
  if (needsPolicy) {
    await writeFile(policy, '#!/bin/sh\nexit 101\n');
    await chmod(policy, 0o755);
  }
  const command = ['apt-get', 'install', '-qy', '--no-install-recommends', ...names];
  const install = () => run('env', ['DEBIAN_FRONTEND=noninteractive', ...command]);
  try {
    // The lists of packages may be missing or out of date.
    await install().catch(async () => {
      await run('apt-get', ['update', '-q']);
      await install();
    });
  } finally {
    if (needsPolicy) await rm(policy);
  }
}

/**
 * Resolves with the root folder of a system of another release of Debian that contains a package,
 * and installs it there if it is missing. `extract` has the files of the package and of those that
 * it depends on, `apt` is a system to run programs in. Needs Debian and root.
 */
export async function debianSystem(
  name: string,
  release: string,
  variant: 'apt' | 'extract',
  packageName: string,
): Promise<string> {
  const root = join(homedir(), '.cache', 'partner-loyalty', name);
  if (existsSync(root)) return root;
  const partial = `${root}.${process.pid}`;
  await mkdir(dirname(root), { recursive: true });
  if (!findCommand('mmdebstrap')) await aptInstall('mmdebstrap');
  const options = ['--mode=root', `--include=${packageName}`, `--keyring=${KEYRING}`];
  const apt = [
    '--aptopt=APT::Install-Recommends "false"',
    '--aptopt=Acquire::Check-Valid-Until "false"',
  ];
  try {
    const all = [`--variant=${variant}`, ...options, ...apt, release, partial, await mirror()];
    await run('mmdebstrap', all);
    // All or nothing: two test runs that install at the same time end with one installation.
    await rename(partial, root).catch((error) => {
      if (!existsSync(root)) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return root;
}

async function mirror(): Promise<string> {
  const lists = await readdir('/etc/apt/sources.list.d').catch(() => []);
  for (const path of [
    '/etc/apt/sources.list',
    ...lists.map((name) => join('/etc/apt/sources.list.d', name)),
  ]) {
    const found = /https?:\/\/\S*\/debian\/?(?=\s)/.exec(
      await readFile(path, 'utf8').catch(() => ''),
    );
    if (found) return found[0];
  }
  throw new Error('/etc/apt names no Debian mirror');
}
