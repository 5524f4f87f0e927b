// Before the tests that need servers: readies programs, stores, a browser, a Python and strace.
import { join } from 'node:path';
import { loadable } from '@partner-loyalty/runtime/program';
import { PROGRAMS, ROOT } from './programs/programs.ts';
import { findBrowser } from './servers/browser.ts';
import { aptInstall, findCommand, isDebianRoot } from './servers/debian.ts';
import { startDocumentDb, startMongod } from './servers/documentdb/start.ts';
import { findPython } from './servers/examples.ts';
import { startRedis } from './servers/redis/server.ts';

type Server = { stop(): unknown };

type DataServer = Server & { url: string };

declare global {
  // The global object is the only way to pass values from jest's setup to its teardown.
  var testServers: Server[];
}

/**
 * Jest's globalSetup, which runs once for all projects that name it: sets MONGODB_URL and REDIS_URL
 * unless they are set already. If something can neither be found nor installed, it prints what to
 * start, or rejects if CI=true.
 */
export default async function setup(): Promise<void> {
  globalThis.testServers = [];
  try {
    // Two installations at a time would wait for each other's lock.
    await provideBrowser();
    await providePython();
    await provideCommand('strace');
    await provide('REDIS_URL', 'redis-server', startRedis, async () => {
      await aptInstall('redis-server');
      return startRedis();
    });
    await Promise.all([
      provide('MONGODB_URL', 'mongod', startMongod, startDocumentDb),
      bundlePrograms(),
    ]);
  } catch (error) {
    await Promise.all(globalThis.testServers.splice(0).map((server) => server.stop()));
    throw error;
  }
}

/** Otherwise the tests that start first would each bundle the sources of the same program. */
async function bundlePrograms(): Promise<void> {
  for (const program of PROGRAMS) await loadable(join(ROOT, program));
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

/** Provides a command, by a Debian package of the same name unless it is given. */
export async function provideCommand(command: string, debianPackage = command): Promise<void> {
  if (findCommand(command)) return;
  if (await isDebianRoot()) return aptInstall(debianPackage, command);
  advise(`No ${command} here: install it so that it is on PATH.`);
}

/** Prints advice about something that is missing. Throws it if CI=true. */
function advise(advice: string): void {
  if (process.env.CI === 'true') throw new Error(advice);
  console.warn(`${advice} The tests that need it fail.`);
}

async function provide(
  variable: string,
  command: string,
  startFromPath: () => Promise<DataServer>,
  startOnDebian: () => Promise<DataServer>,
): Promise<void> {
  // Set by the user.
  if (process.env[variable]) return;
  const startServer = findCommand(command)
    ? startFromPath
    : (await isDebianRoot())
      ? startOnDebian
      : undefined;
  if (startServer === undefined)
    return advise(
      `No ${command} here: set ${variable} to a running server, or install ${command} so that it is on PATH.`,
    );
  const server = await startServer();
  globalThis.testServers.push(server);
  process.env[variable] = server.url;
}
