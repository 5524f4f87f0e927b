// The first start as a user sees it: from nothing to an answer, again with its data, to the end.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { temporaryFolder } from '../test/support/folder.ts';
import { freshMongodbUrl } from '../test/support/servers/databases.ts';
import { createVisitor } from '../test/support/servers/visitor.ts';
import { loyalty, loyaltyJson } from '../test/support/service/loyalty.ts';
import { type Service, startService } from '../test/support/service/npmstart.ts';

const DEMO_ANSWER = {
  data: {
    memberByEmail: {
      memberId: 'demo-001',
      email: 'Teal.Heron@example.com',
      firstName: 'Teal',
      lastName: 'Heron',
      tier: 'Gold',
      points: 5200,
    },
  },
};
const KEY_COMMANDS = /npx --no-install loyalty (partners|keys) create/;

let folder: ReturnType<typeof temporaryFolder>;
let services: Service[];
beforeEach(() => {
  folder = temporaryFolder();
  services = [];
});
afterEach(async () => {
  await Promise.all(services.map((service) => service.kill()));
  folder.remove();
});

async function start(env: Record<string, string> = {}, withNpm = false): Promise<Service> {
  const service = await startService({ DATA_DIR: folder.path, ...env }, withNpm);
  services.push(service);
  return service;
}

/** The lines of the log with a message. */
function logged(service: Service, msg: string): Record<string, unknown>[] {
  const lines = service.output().match(/^\{.*"msg".*\}$/gm) ?? [];
  return lines.map((line) => JSON.parse(line)).filter((line) => line.msg === msg);
}

/** Runs the printed curl command in a shell. */
function paste(output: string): unknown {
  const [curl = ''] = /^curl .*$/m.exec(output) ?? [];
  return JSON.parse(execFileSync('sh', ['-c', curl], { encoding: 'utf8' }));
}

async function ask(
  endpoint: string,
  key: string,
  query: string,
): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-partner-api-key': key },
    body: JSON.stringify({ query }),
  });
  return { status: answer.status, body: await answer.json() };
}

test('the printed curl works, SIGTERM ends npm with 0, the next start has the data', async () => {
  const first = await start({}, true);
  expect(first.output()).toMatch(/pk_test_\w{36}/);
  expect(paste(first.output())).toEqual(DEMO_ANSWER);
  expect(await first.stop('SIGTERM')).toBe(0);
  await expect(fetch(first.endpoint)).rejects.toThrow();

  const second = await start({}, true);
  expect(second.output()).toContain('npx --no-install loyalty keys create demo-hotels\n');
  expect(second.output()).not.toMatch(/pk_test_\w/);
  const [key] = /pk_test_\w{36}/.exec(first.output()) ?? [''];
  const fields = 'memberId email firstName lastName tier points';
  const query = `{ memberByEmail(email: "TEAL.HERON@example.com") { ${fields} } }`;
  expect(
    paste(second.output().replace('x-partner-api-key: pk_test_…', `x-partner-api-key: ${key}`)),
  ).toEqual(DEMO_ANSWER);
  expect(await ask(second.endpoint, key, query)).toEqual({ status: 200, body: DEMO_ANSWER });
});

test('each start prints a link that signs a browser in to the console of the demo, once', async () => {
  const auditLog = `${folder.path}/audit.log`;
  const { output, stop } = await start({ AUDIT_LOG: auditLog });
  const linkOf = (text: string) => /http:\S+\/console\/sign-in\?token=\S+/.exec(text)?.[0] ?? '';
  const link = linkOf(output());
  expect(await fetch(link, { method: 'HEAD' })).toMatchObject({ status: 200 });
  const visitor = createVisitor();
  const page = await visitor.visit(link);
  expect(page.html).toContain('<h1>Demo Hotels</h1>');
  expect((await visitor.visit(page.url.replace(/console$/, 'console/keys'))).html).toContain(
    'Create the key',
  );
  expect(await createVisitor().visit(link)).toMatchObject({ status: 410 });
  await stop();
  expect(readFileSync(auditLog, 'utf8')).toContain('"partner":"demo-hotels","staffId":"demo"');
  expect(linkOf((await start()).output())).not.toMatch(new RegExp(`^(${link.slice(-40)})?$`));
});

test('no demo on MongoDB; the log says which database and commit it is', async () => {
  const database = freshMongodbUrl();
  const { host, pathname } = new URL(database.url);
  const service = await start({ MONGODB_URL: database.url });
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  expect(logged(service, 'listening')).toMatchObject([
    { commit, engine: 'mongodb', database: `${host}${pathname}`, redis: 'none' },
  ]);
  expect(service.output()).toMatch(KEY_COMMANDS);
  expect(await loyaltyJson({ MONGODB_URL: database.url }, 'partners', 'list')).toEqual([]);
  await service.stop();
  await database.drop();
});

test('a name that is close to a setting is one warning, and ends a start in production', async () => {
  const MONGO_URL = 'mongodb://u:hidden@db/loyalty';
  const service = await start({ MONGO_URL });
  expect(logged(service, 'a variable may be misspelled')).toMatchObject([
    { level: 'warn', reason: 'MONGO_URL is not read: MONGODB_URL is' },
  ]);
  expect(logged(service, 'listening')).toMatchObject([{ engine: 'lmdb', folder: folder.path }]);
  expect(service.output()).not.toContain('hidden');
  await expect(start({ MONGO_URL, ENVIRONMENT: 'production' })).rejects.toThrow(
    'MONGO_URL is no setting: MONGODB_URL is, and is not set',
  );
});

test('a DATA_DIR that cannot be made ends the start with a line', async () => {
  await expect(start({ DATA_DIR: '/proc/none/data' })).rejects.toThrow(
    'DATA_DIR /proc/none/data cannot be made: ENOENT',
  );
});

test.each([
  ['PORT', 'set PORT'],
  ['ADMIN_PORT', 'for health and metrics, is in use: set PORT or ADMIN_PORT'],
])('a busy %s is named before anything is made, so that no key is lost', async (name, advice) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  // Cast: a server that listens on a port has an AddressInfo.
  const { port } = other.address() as AddressInfo;
  const failure = await start({ [name]: `${port}` }).catch((error: Error) => error.message);
  other.close();
  expect(failure).toContain(`port ${port} of 127.0.0.1`);
  expect(failure).toContain(advice);
  expect(failure).not.toMatch(/ at .*:\d+:\d+/);
  expect(readdirSync(folder.path)).toEqual([]);
});

test('a store of the other environment stops the start with a clear message', async () => {
  const env = { DATA_DIR: folder.path, ENVIRONMENT: 'production' };
  await loyalty(env, 'partners', 'create', 'blue', '--name', 'Blue');
  await expect(start()).rejects.toThrow(/belongs to the production environment/);
});
