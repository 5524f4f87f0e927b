// Before the tests of the project e2e: starts MongoDB and Redis, provides a browser and a Python.
import { findBrowser } from './servers/browser.ts';
import { aptInstall, isDebianRoot } from './servers/debian.ts';
import { findPython } from './servers/python.ts';
import startServers, { advise } from './setup.ts';

/**
 * Jest's globalSetup. It finds the servers running if the setup of another project started them.
 */
export default async function setup(): Promise<void> {
  await provideBrowser();
  await providePython();
  await startServers();
}

async function provideBrowser(): Promise<void> {
  if (findBrowser()) return;
  if (await isDebianRoot()) return aptInstall('chromium');
  advise('No Chromium here: install it so that chromium is on PATH.');
}

async function providePython(): Promise<void> {
  if (await findPython()) return;
  if (await isDebianRoot()) return aptInstall('python3-graphql-core');
  advise('No Python with graphql-core here: run `pip install graphql-core`.');
}
