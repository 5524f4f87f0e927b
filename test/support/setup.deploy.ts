// Before the tests of deploy/: provides kubectl and promtool.
import { aptInstall, findCommand, isDebianRoot } from './servers/debian.ts';
import { advise } from './setup.ts';

/** Jest's globalSetup. */
export default async function setup(): Promise<void> {
  await provide('kubectl', 'kubernetes-client');
  await provide('promtool', 'prometheus');
}

async function provide(command: string, debianPackage: string): Promise<void> {
  if (findCommand(command)) return;
  if (await isDebianRoot()) return aptInstall(debianPackage, command);
  advise(`No ${command} here: install it so that it is on PATH.`);
}
