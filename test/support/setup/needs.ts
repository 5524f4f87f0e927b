// What the tests of each name need beside Node, and how a machine gets it.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { loadable } from '@partner-loyalty/runtime/program';
import { PROGRAMS, ROOT } from '../programs/programs.ts';
import { findBrowser } from '../servers/browser.ts';
import { aptInstall, debianSystem, findCommand, isDebianRoot } from '../servers/debian.ts';
import { startDocumentDb, startMongod } from '../servers/documentdb/start.ts';
import { findPython } from '../servers/examples.ts';
import { run } from '../servers/process.ts';
import { startRedis } from '../servers/redis/server.ts';

type Server = { stop(): unknown };

declare global {
  // The global object is the only way to pass values from jest's setup to its teardown.
  var testServers: Server[];
}

type Need = {
  name: string;
  isThere(): unknown;
  /** What else a person can do to have it. */
  advice: string;
  /** The Debian package that has it, or the way to install it on Debian as root. */
  debian: string | (() => Promise<void>);
};

const command = (name: string, debian: Need['debian'] = name): Need => ({
  name,
  isThere: () => findCommand(name),
  advice: `install ${name} so that it is on PATH`,
  debian,
});

const REDIS: Need = {
  ...command('redis-server'),
  name: 'Redis',
  isThere: () => process.env.REDIS_URL || findCommand('redis-server'),
  advice: 'set REDIS_URL to a running server, or install redis-server so that it is on PATH',
};

const MONGODB: Need = {
  name: 'MongoDB',
  isThere: () => process.env.MONGODB_URL || findCommand('mongod'),
  advice: 'set MONGODB_URL to a running replica set, or install mongod so that it is on PATH',
  // Debian has no mongod: DocumentDB is installed when it is started.
  debian: async () => {
    if (!findCommand('mmdebstrap')) await aptInstall('mmdebstrap');
  },
};

const CHROMIUM: Need = {
  ...command('chromium', 'chromium-headless-shell'),
  name: 'Chromium',
  isThere: findBrowser,
};

const PYTHON: Need = {
  name: 'Python with graphql-core',
  isThere: findPython,
  advice: 'run `pip install graphql-core`',
  debian: 'python3-graphql-core',
};

const MONO_HTTP: Need = {
  name: "Mono's System.Net.Http",
  isThere: () => existsSync('/usr/lib/mono/4.5/System.Net.Http.dll'),
  advice: "install Mono's libraries",
  debian: 'libmono-system-net-http4.0-cil',
};

/** The first with a kustomize that knows the fields that replaced the deprecated ones. */
const OLDEST_KUBECTL = 21;

const KUBECTL: Need = {
  ...command('kubectl', async () => {
    // Debian 12 has kubectl 1.20. That of Debian 13 runs there too.
    const root = await debianSystem('kubectl-1', 'trixie', 'extract', 'kubernetes-client');
    process.env.PATH = [join(root, 'usr/bin'), process.env.PATH].join(delimiter);
  }),
  name: `kubectl of version 1.${OLDEST_KUBECTL}`,
  async isThere() {
    if (!findCommand('kubectl')) return false;
    const version = await run('kubectl', ['version', '--client', '--output=json']);
    return Number.parseInt(JSON.parse(version).clientVersion.minor, 10) >= OLDEST_KUBECTL;
  },
};

const SERVERS = [REDIS, MONGODB];

const NEEDS = {
  servers: [...SERVERS, command('strace')],
  browser: [CHROMIUM],
  languages: [
    ...[PYTHON, CHROMIUM, command('go', 'golang-go'), command('php', 'php-cli')],
    ...[command('javac', 'default-jdk-headless'), command('mcs', 'mono-mcs'), MONO_HTTP],
  ],
  deploy: [...SERVERS, CHROMIUM, KUBECTL, command('promtool', 'prometheus')],
} satisfies Record<string, Need[]>;

/**
 * Prints what tests need, and whether it is there. Installs what is missing on Debian as root;
 * elsewhere rejects with how to get it. Then starts the servers, and sets MONGODB_URL and REDIS_URL
 * unless they are set already.
 */
export async function provide(tests: keyof typeof NEEDS): Promise<void> {
  globalThis.testServers ??= [];
  const missing: Need[] = [];
  for (const need of NEEDS[tests]) if (!(await need.isThere())) missing.push(need);
  const mayInstall = await isDebianRoot();
  const stateOf = (need: Need) =>
    missing.includes(need)
      ? mayInstall
        ? 'is installed now'
        : `missing: ${need.advice}`
      : 'there';
  const lines = NEEDS[tests].map((need) => `  ${need.name}: ${stateOf(need)}\n`);
  process.stderr.write(`npm run test:${tests} needs\n${lines.join('')}`);
  if (missing.length > 0 && !mayInstall)
    throw new Error(`npm run test:${tests}: ${missing.map(({ name }) => name).join(', ')} missing`);
  const packages = missing.flatMap(({ debian }) => (typeof debian === 'string' ? [debian] : []));
  if (packages.length > 0) await aptInstall(...packages);
  for (const { debian } of missing) if (typeof debian === 'function') await debian();
  const needed: Need[] = NEEDS[tests];
  if (needed.includes(REDIS)) await start('REDIS_URL', startRedis);
  if (needed.includes(MONGODB))
    await start('MONGODB_URL', findCommand('mongod') ? startMongod : startDocumentDb);
}

/** Starts a server, unless the variable leads to one already. */
async function start(
  variable: string,
  startServer: () => Promise<Server & { url: string }>,
): Promise<void> {
  if (process.env[variable]) return;
  const server = await startServer();
  globalThis.testServers.push(server);
  process.env[variable] = server.url;
}

/** Otherwise the tests that start first would each bundle the sources of the same program. */
export async function bundlePrograms(): Promise<void> {
  for (const program of PROGRAMS) await loadable(join(ROOT, program));
}

const before = (tests: keyof typeof NEEDS) => async () => {
  await bundlePrograms();
  await provide(tests);
};
export const servers = before('servers');
export const browser = before('browser');
export const languages = before('languages');
export const deploy = before('deploy');
