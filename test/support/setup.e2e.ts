// Before the tests of the project e2e: starts MongoDB and Redis, and provides a browser.
import { findBrowser } from './servers/browser.ts';
import { aptInstall, isDebianRoot } from './servers/debian.ts';
import startServers, { advise } from './setup.ts';

/**
 * Jest's globalSetup. It finds the servers running if the setup of another project started them.
 */
export default async function setup(): Promise<void> {
  await provideBrowser();
  await startServers();
}

async function provideBrowser(): Promise<void> {
  if (findBrowser()) return;
  if (await isDebianRoot()) return aptInstall('chromium');
  advise('No Chromium here: install it so that chromium is on PATH.');
}
