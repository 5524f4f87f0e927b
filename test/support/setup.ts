// Before the tests that need servers: readies the programs they start, starts MongoDB and Redis.
import { join } from 'node:path';
import { loadable } from '@partner-loyalty/runtime/program';
import { PROGRAMS, ROOT } from './programs/programs.ts';
import { aptInstall, findCommand, isDebianRoot } from './servers/debian.ts';
import { startDocumentDb } from './servers/documentdb/start.ts';
import { startMongod } from './servers/mongod.ts';
import { startRedis } from './servers/redis/server.ts';

type Server = { stop(): unknown };

type DataServer = Server & { url: string };

declare global {
  // The global object is the only way to pass values from jest's setup to its teardown.
  var testServers: Server[];
}

/**
 * Jest's globalSetup: sets MONGODB_URL and REDIS_URL unless they are set already. If a server can
 * neither be found nor installed, it prints what to start, or rejects if CI=true.
 */
export default async function setup(): Promise<void> {
  globalThis.testServers ??= [];
  try {
    // Otherwise the tests that start first would each bundle the sources of the same program.
    for (const program of PROGRAMS) await loadable(join(ROOT, program));
    await provide('REDIS_URL', 'redis-server', startRedis, async () => {
      await aptInstall('redis-server');
      return startRedis();
    });
    await provide('MONGODB_URL', 'mongod', startMongod, startDocumentDb);
  } catch (error) {
    await Promise.all(globalThis.testServers.splice(0).map((server) => server.stop()));
    throw error;
  }
}

/** Prints advice about something that is missing. Throws it if CI=true. */
export function advise(advice: string): void {
  if (process.env.CI === 'true') throw new Error(advice);
  console.warn(`${advice} The tests that need it fail.`);
}

async function provide(
  variable: string,
  command: string,
  startFromPath: () => Promise<DataServer>,
  startOnDebian: () => Promise<DataServer>,
): Promise<void> {
  // Set by the user, or by the setup of another project in this run.
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
