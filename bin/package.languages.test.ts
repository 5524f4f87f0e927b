// The command as its package: without a checkout, it runs a gateway, follows schemas, and checks.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Folder, temporaryFolder } from '../test/support/folder.ts';
import { type PlainSubgraph, startSubgraph } from '../test/support/graphs/graph.ts';
import { EXAMPLES, type Example, startExample } from '../test/support/servers/examples.ts';
import { type ServerProcess, startProcess } from '../test/support/servers/process.ts';
import { bareEnv, type Env } from '../test/support/service/loyalty.ts';
import { until } from '../test/support/until.ts';

const ROOT = join(import.meta.dirname, '..');
const SCHEMA = readFileSync(join(EXAMPLES, 'offers-apollo/schema.graphql'), 'utf8');
const TITLE = '  title: String! @tag(name: "partner") @tag(name: "member")\n';
const OFFERS =
  '{ memberByEmail(email: "Teal.Heron@example.com") { firstName tier offers { title } } }';

/** A gateway that `dev` runs. */
type Dev = ServerProcess & { url: string; key: string; secret: string; dataDir: string };

let folder: Folder;
let loyalty: string;
let offers: Example;
let gateway: Dev;
const stops: (() => unknown)[] = [];

beforeAll(async () => {
  folder = temporaryFolder();
  stops.push(folder.remove);
  install();
  writeFileSync(join(folder.path, 'offers.graphql'), SCHEMA);
  const OFFERS_SECRET = 'the secret of the example';
  offers = await startExample('offers-apollo', { OFFERS_SECRET });
  stops.push(offers.stop);
  gateway = await dev({ OFFERS_SECRET }, 'offers', 'offers.graphql', '--url', offers.url);
});
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});

/** Installs the tarball as npm does: what it does not declare is not there. */
function install(): void {
  const pack = [
    'pack',
    '--silent',
    '--json',
    '-w',
    '@partner-loyalty/cli',
    '--pack-destination',
    folder.path,
  ];
  const packed = execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8' });
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  const modules = join(folder.path, 'node_modules');
  const installed = join(modules, '@partner-loyalty/cli');
  mkdirSync(installed, { recursive: true });
  const tarball = join(folder.path, filename);
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  loyalty = join(installed, manifest.bin.loyalty);
}

test('the package knows the commit that it was packed from', () => {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' });
  const version = execFileSync(process.execPath, [loyalty, '--version'], { encoding: 'utf8' });
  expect(version).toBe(`0.9.0 ${commit}`);
});

async function dev(env: Env, ...args: string[]): Promise<Dev> {
  const server = await startProcess({
    command: 'env',
    args: ['-C', folder.path, process.execPath, loyalty, 'supergraph', 'dev', ...args],
    env: { PORT: '0', ADMIN_PORT: '0', ...env },
    signal: 'TERM',
  });
  stops.push(server.stop);
  await server.wrote(/tokens issue/);
  const printed = (pattern: RegExp) => pattern.exec(server.output())?.[1] ?? '';
  return {
    ...server,
    url: printed(/(http:\S+)\/graphql\n/),
    key: printed(/(pk_test_\w+)/),
    secret: printed(/export [A-Z]+_SECRET=(.+)\n/),
    dataDir: printed(/DATA_DIR=(\S+)/),
  };
}

async function ask({ url, key }: Dev, query: string): Promise<unknown> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-partner-api-key': key },
    body: JSON.stringify({ query }),
  });
  return response.json();
}

async function fieldsOfOffer(): Promise<string> {
  return JSON.stringify(await ask(gateway, '{ __type(name: "Offer") { fields { name } } }'));
}

async function run(env: Env, ...args: string[]): Promise<string> {
  const ran = await promisify(execFile)(process.execPath, [loyalty, ...args], {
    cwd: folder.path,
    env: { ...bareEnv(), ...env },
  });
  return ran.stdout;
}

const writeSchema = (sdl: string) => writeFileSync(join(folder.path, 'offers.graphql'), sdl);

test('demo members have the fields of the local subgraph, and the explorer is there', async () => {
  expect(gateway.secret).toBe('the secret of the example');
  expect(await ask(gateway, OFFERS)).toEqual({
    data: {
      memberByEmail: {
        firstName: 'Teal',
        tier: 'Gold',
        offers: expect.arrayContaining([{ title: expect.any(String) }]),
      },
    },
  });
  for (const page of ['explorer', 'docs']) {
    const { status } = await fetch(`${gateway.url}/${page}`, { headers: { accept: 'text/html' } });
    expect(status).toBe(200);
  }
});

test('the examples that a team begins with are in the package', () => {
  const examples = join(dirname(loyalty), 'dist/examples');
  for (const file of ['offers-apollo/schema.graphql', 'offers-python/schema.graphql'])
    expect(readFileSync(join(examples, file), 'utf8')).toBe(SCHEMA);
  for (const file of ['offers-apollo/package.json', 'offers-python/server.py'])
    expect(existsSync(join(examples, file))).toBe(true);
});

test('a changed schema is served, and one that does not compose changes nothing', async () => {
  writeSchema(SCHEMA.replace(TITLE, `${TITLE}  reach: Int @tag(name: "partner")\n`));
  await until(async () => (await fieldsOfOffer()).includes('reach'));
  writeSchema(SCHEMA.replace('[Offer!]', '[Ofer!]'));
  await gateway.wrote(/^offers\.graphql:15:12: .*Ofer/m);
  expect(await fieldsOfOffer()).toContain('reach');
  writeSchema(SCHEMA);
  await until(async () => !(await fieldsOfOffer()).includes('reach'));
});

describe('through the registry of a service', () => {
  let token: string;
  let perks: PlainSubgraph;
  const PERKS = `
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@tag"])
    type Query { perk: String @tag(name: "partner") @tag(name: "scope-read") }`;

  beforeAll(async () => {
    const create = ['supergraph', 'token', 'create', 'perks', '--owner', 'perks', '--json'];
    ({ token } = JSON.parse(await run({ DATA_DIR: gateway.dataDir }, ...create)));
    perks = await startSubgraph(PERKS, { perk: 'breakfast' });
    stops.push(perks.close);
  });

  test('a schema is checked', async () => {
    writeFileSync(join(folder.path, 'perks.graphql'), PERKS);
    const check = ['supergraph', 'check', 'perks', 'perks.graphql', '--registry', gateway.url];
    const stdout = await run({ LOYALTY_SUBGRAPH_TOKEN: token }, ...check);
    expect(stdout).toMatch(/safe +Query\.perk/);
  });

  test('dev joins its graph: others are null, the subgraph is asked for its schema', async () => {
    const env = { LOYALTY_SUBGRAPH_TOKEN: token, LOYALTY_REGISTRY: gateway.url };
    const joined = await dev(env, 'perks', '--url', perks.url);
    expect(joined.secret).toMatch(/^[0-9a-f]{48}$/);
    const query = OFFERS.replace('{', '{ perk ');
    expect(await ask(joined, query)).toEqual({
      data: { perk: 'breakfast', memberByEmail: { firstName: 'Teal', tier: 'Gold', offers: null } },
    });
    perks.serve(PERKS.replace('scope-read', 'scope-raed'), { perk: 'breakfast' });
    await joined.wrote(/the schema of perks:\d+:\d+: the @tag on perk names no scope/);
    expect(await ask(joined, '{ perk }')).toEqual({ data: { perk: 'breakfast' } });
    perks.close();
    await joined.wrote(/perks at http\S+ does not answer \{_service\{sdl\}\}/);

    expect(existsSync(joined.dataDir)).toBe(true);
    expect(await joined.stop()).toBe(0);
    expect(existsSync(joined.dataDir)).toBe(false);
  });
});
