// Before the tests of deploy/: provides kubectl and promtool.
import { delimiter, join } from 'node:path';
import { debianSystem, findCommand, isDebianRoot } from './servers/debian.ts';
import { run } from './servers/process.ts';
import { aCommand, provide } from './setup.ts';

/** The first with a kustomize that knows the fields that replaced the deprecated ones. */
const OLDEST_KUBECTL = 21;

/** Jest's globalSetup. */
export default async function setup(): Promise<void> {
  await provideKubectl();
  await provide(aCommand('promtool', 'prometheus'));
}

/** Debian 12 has kubectl 1.20. That of Debian 13 runs there too. */
async function provideKubectl(): Promise<void> {
  if (await hasKubectl()) return;
  if (!(await isDebianRoot())) return provide(aCommand('kubectl', 'kubernetes-client'));
  const root = await debianSystem('kubectl-1', 'trixie', 'extract', 'kubernetes-client');
  process.env.PATH = [join(root, 'usr/bin'), process.env.PATH].join(delimiter);
}

async function hasKubectl(): Promise<boolean> {
  if (!findCommand('kubectl')) return false;
  const version = await run('kubectl', ['version', '--client', '--output=json']);
  return Number.parseInt(JSON.parse(version).clientVersion.minor, 10) >= OLDEST_KUBECTL;
}
