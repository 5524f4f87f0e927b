// Installs DocumentDB, a MongoDB-compatible engine on PostgreSQL 18 from Debian's release forky.
// It does so once per machine, in a folder of its own.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { aptInstall } from '../debian.ts';
import { run } from '../process.ts';

const PACKAGE = 'postgresql-18-documentdb';
// Change the name when the recipe below changes, so that it is installed again.
const NAME = 'documentdb-1';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * Resolves with the root folder of a Debian system that contains DocumentDB. Installs it if it is
 * missing, which takes 700 MB and half a minute. Needs Debian and root.
 */
export async function installDocumentDb(): Promise<string> {
  const root = join(homedir(), '.cache', 'partner-loyalty', NAME);
  if (existsSync(root)) return root;
  const partial = `${root}.${process.pid}`;
  await mkdir(dirname(root), { recursive: true });
  await aptInstall('mmdebstrap');
  const options = ['--variant=apt', '--mode=root', `--include=${PACKAGE}`, `--keyring=${KEYRING}`];
  const apt = [
    '--aptopt=APT::Install-Recommends "false"',
    '--aptopt=Acquire::Check-Valid-Until "false"',
  ];
  try {
    await run('mmdebstrap', [...options, ...apt, 'forky', partial, await mirror()]);
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
