// Before the tests that need servers: readies programs, stores, a browser and strace.
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

/** Something that tests need, and the Debian package that has it. */
type Need = { isThere: () => unknown; package: string; advice: string };

const onPath = (command: string) => `install ${command} so that it is on PATH`;

/** A command, of which the package has the same name by default. */
export const aCommand = (command: string, debianPackage = command): Need => ({
  isThere: () => findCommand(command),
  package: debianPackage,
  advice: `No ${command} here: ${onPath(command)}.`,
});

const REDIS: Need = {
  isThere: () => process.env.REDIS_URL || findCommand('redis-server'),
  package: 'redis-server',
  advice: `No Redis here: set REDIS_URL to a running server, or ${onPath('redis-server')}.`,
};

// Debian has no mongod; this package installs DocumentDB.
const MONGODB: Need = {
  isThere: async () =>
    process.env.MONGODB_URL ||
    findCommand('mongod') ||
    (findCommand('mmdebstrap') && (await isDebianRoot())),
  package: 'mmdebstrap',
  advice: `No MongoDB here: set MONGODB_URL to a running server, or ${onPath('mongod')}.`,
};

const BROWSER: Need = {
  isThere: findBrowser,
  package: 'chromium-headless-shell',
  advice: `No Chromium here: ${onPath('chromium')}.`,
};

const PYTHON: Need = {
  isThere: findPython,
  package: 'python3-graphql-core',
  advice: 'No Python with graphql-core here: run `pip install graphql-core`.',
};

/**
 * Jest's globalSetup, which runs once for all projects that name it: sets MONGODB_URL and REDIS_URL
 * unless they are set already. If something can neither be found nor installed, it prints what to
 * do, or rejects if CI=true.
 */
export default async function setup(): Promise<void> {
  globalThis.testServers = [];
  await provide(REDIS, MONGODB);
  const tasks = await Promise.allSettled([
    provide(BROWSER, PYTHON, aCommand('strace')),
    startServers(),
    bundlePrograms(),
  ]);
  const failed = tasks.find((task) => task.status === 'rejected');
  if (failed === undefined) return;
  await Promise.all(globalThis.testServers.splice(0).map((server) => server.stop()));
  throw failed.reason;
}

/** Installs what is missing. */
export async function provide(...needs: Need[]): Promise<void> {
  const missing: Need[] = [];
  for (const need of needs) if (!(await need.isThere())) missing.push(need);
  if (missing.length === 0) return;
  if (await isDebianRoot()) return aptInstall(...missing.map((need) => need.package));
  const advice = missing.map((need) => need.advice).join('\n');
  if (process.env.CI === 'true') throw new Error(advice);
  console.warn(`${advice}\nThe tests that need it fail.`);
}

async function startServers(): Promise<void> {
  if (findCommand('redis-server')) await start('REDIS_URL', startRedis);
  if (findCommand('mongod')) await start('MONGODB_URL', startMongod);
  else if (await isDebianRoot()) await start('MONGODB_URL', startDocumentDb);
}

/** Starts a server, unless the variable leads to one already. */
async function start(variable: string, startServer: () => Promise<DataServer>): Promise<void> {
  if (process.env[variable]) return;
  const server = await startServer();
  globalThis.testServers.push(server);
  process.env[variable] = server.url;
}

/** Otherwise the tests that start first would each bundle the sources of the same program. */
async function bundlePrograms(): Promise<void> {
  for (const program of PROGRAMS) await loadable(join(ROOT, program));
}
