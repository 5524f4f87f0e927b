// Before the tests of deploy/: provides kubectl and promtool.
import { provideCommand } from './setup.ts';

/** Jest's globalSetup. */
export default async function setup(): Promise<void> {
  await provideCommand('kubectl', 'kubernetes-client');
  await provideCommand('promtool', 'prometheus');
}
