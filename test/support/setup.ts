// Before the tests: brings up a MongoDB-compatible server and Redis, unless MONGODB_URL and REDIS_URL name them, and a browser (jest's globalSetup).
import { findBrowser } from './servers/browser.ts';
import { aptInstall, findCommand, isDebianRoot } from './servers/debian.ts';
import { startDocumentDb } from './servers/documentdb/start.ts';
import { startMongod } from './servers/mongod.ts';
import { startRedis } from './servers/redis.ts';

type Server = { url: string; stop(): Promise<void> };

declare global {
  // jest hands what setup made to teardown by the global object alone.
  var testServers: Server[];
}

/** Sets MONGODB_URL and REDIS_URL. Where a server cannot be had, says what to start; with CI=true that ends the run. */
export default async function start(): Promise<void> {
  globalThis.testServers ??= [];
  try {
    await provideBrowser();
    await provide('REDIS_URL', 'redis-server', startRedis, async () => {
      await aptInstall('redis-server');
      return startRedis();
    });
    await provide('MONGODB_URL', 'mongod', startMongod, startDocumentDb);
  } catch (error) {
    await Promise.all(globalThis.testServers.map((server) => server.stop()));
    throw error;
  }
}

async function provideBrowser(): Promise<void> {
  if (findBrowser()) return;
  if (await isDebianRoot()) return aptInstall('chromium');
  const advice = 'No Chromium here: install it so that chromium is on PATH.';
  if (process.env.CI === 'true') throw new Error(advice);
  console.warn(`${advice} The tests that need it fail.`);
}

async function provide(
  variable: string,
  command: string,
  onPath: () => Promise<Server>,
  onDebian: () => Promise<Server>,
): Promise<void> {
  if (process.env[variable]) return;
  const begin = findCommand(command) ? onPath : (await isDebianRoot()) ? onDebian : undefined;
  if (begin) {
    const server = await begin();
    globalThis.testServers.push(server);
    process.env[variable] = server.url;
    return;
  }
  const advice = `No ${command} here: set ${variable} to a running server, or install ${command} so that it is on PATH.`;
  if (process.env.CI === 'true') throw new Error(advice);
  console.warn(`${advice} The tests that need it fail.`);
}
