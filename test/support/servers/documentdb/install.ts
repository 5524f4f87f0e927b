// Installs DocumentDB, a MongoDB-compatible engine on PostgreSQL 18 that Debian's forky carries, once per machine in a folder of its own.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { aptInstall } from '../debian.ts';
import { run } from '../process.ts';

const PACKAGE = 'postgresql-18-documentdb';
// Another name is another installation: change it with the recipe below.
const NAME = 'documentdb-1';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Gives the folder of a Debian with DocumentDB in it, installing about 700 MB in half a minute where it is missing. Needs Debian and root. */
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
    // Whole or not at all: two test runs that install at once end with one installation.
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
  throw new Error('no Debian mirror is named in /etc/apt');
}
