// The package as it is published: what it holds, that projects compile with it, its README.
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Folder, temporaryFolder } from '../test/support/folder.ts';
import { createClient } from '../test/support/service/client.ts';
import { loyaltyJson } from '../test/support/service/loyalty.ts';
import { type Service, startService } from '../test/support/service/npmstart.ts';
import { until } from '../test/support/until.ts';

const CLIENT = import.meta.dirname;
const ROOT = join(CLIENT, '..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const README = readFileSync(join(CLIENT, 'README.md'), 'utf8');

let folder: Folder;
/** The files of the package. */
let packed: string[];

beforeAll(() => {
  folder = temporaryFolder();
  // A copy, so that no other test meets a half-built package.
  const copy = join(folder.path, 'client');
  cpSync(CLIENT, copy, { recursive: true, filter: (path) => !/\/(dist|node_modules)$/.test(path) });
  symlinkSync(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
  const [{ filename, files }] = JSON.parse(run(copy, 'npm', 'pack', '--json')) as [
    { filename: string; files: { path: string }[] },
  ];
  packed = files.map(({ path }) => path);
  const consumer = join(folder.path, 'consumer');
  mkdirSync(consumer);
  writeFileSync(join(consumer, 'package.json'), '{}');
  const tarball = join(copy, filename);
  run(consumer, 'npm', 'install', '--offline', '--no-audit', '--no-package-lock', tarball);
  mkdirSync(join(consumer, 'node_modules/@types'));
  for (const types of ['@types/node', 'undici-types'])
    symlinkSync(
      join(ROOT, 'node_modules', types),
      join(folder.path, 'consumer/node_modules', types),
    );
  const blocks = [...README.matchAll(/^```js\n(.*?)^```/gms)].map(([, block = '']) => block);
  writeFileSync(join(folder.path, 'consumer/readme.mts'), blocks.join('\n'));
  writeFileSync(join(folder.path, 'consumer/readme.mjs'), blocks.join('\n'));
  // A module of CommonJS has no await at its top.
  const [imports, rest] = [/^import .*/gm, blocks.join('\n').replace(/^import .*/gm, '')];
  const body = `${blocks.join('\n').match(imports)?.join('\n')}\nasync () => {${rest}};`;
  writeFileSync(join(folder.path, 'consumer/required.cts'), body);
});
afterAll(() => folder.remove());

test('the package holds what was built and the README, and nothing else', () => {
  expect(packed).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'README.md']));
  const others = packed.filter((path) => !/^dist\/[\w/.]+\.(js|d\.ts)$/.test(path));
  expect(others.sort()).toEqual(['README.md', 'dist/cjs/package.json', 'package.json']);
  expect(packed.filter((path) => /test/.test(path))).toEqual([]);
  const manifest = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'));
  expect(manifest).not.toHaveProperty('dependencies');
});

test('a program gets the same names by require as by import', () => {
  const consumer = join(folder.path, 'consumer');
  const print = 'console.log(Object.keys(client).sort().join(), client.createPartnerClient.length)';
  writeFileSync(
    join(consumer, 'required.cjs'),
    `const client = require('@partner-loyalty/client'); ${print}`,
  );
  writeFileSync(
    join(consumer, 'imported.mjs'),
    `import * as client from '@partner-loyalty/client'; ${print}`,
  );
  const [required, imported] = ['required.cjs', 'imported.mjs'].map((file) =>
    // Otherwise recent versions of Node load a module by require too.
    run(consumer, process.execPath, '--no-experimental-require-module', file),
  );
  expect(required).toContain('createPartnerClient,isCallError,verifyWebhook 1');
  expect(imported).toBe(required);
});

test.each([
  [
    'CommonJS',
    { module: 'node16', moduleResolution: 'node16', lib: ['es2022'], types: ['node'] },
    'required.cts',
  ],
  ['Node', { module: 'node16', moduleResolution: 'node16', lib: ['es2022'], types: ['node'] }],
  [
    'a bundler',
    { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: ['node'] },
  ],
])(
  'the README compiles for %s, with the declarations checked',
  (_, options, file = 'readme.mts') => {
    const config = {
      compilerOptions: {
        target: 'es2022',
        strict: true,
        noEmit: true,
        exactOptionalPropertyTypes: true,
        ...options,
      },
      files: [file],
    };
    const consumer = join(folder.path, 'consumer');
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify(config));
    expect(compile(consumer)).toBe('');
  },
);

test("the README's examples run against npm start", async () => {
  const data = temporaryFolder();
  let service: Service | undefined;
  try {
    service = await startService({ DATA_DIR: data.path });
    const [key] = /pk_test_\w+/.exec(service.output()) ?? [];
    const env = { DATA_DIR: data.path };
    const [{ idToken } = {}] = await loyaltyJson(env, 'tokens', 'issue', 'demo-001');
    await eventsAreThere(service.endpoint, key);
    const script = join(folder.path, 'consumer/readme.mjs');
    const code = readFileSync(script, 'utf8').replaceAll(
      "'http://localhost:4000/graphql'",
      `'${service.endpoint}'`,
    );
    writeFileSync(script, code);
    const { stdout } = await promisify(execFile)(process.execPath, [script], {
      env: { PARTNER_LOYALTY_KEY: key, MEMBER_TOKEN: `${idToken}` },
    });
    const lines = stdout.split('\n');
    expect(lines[0]).toBe('Gold');
    for (const line of [
      "[ 5200, 'NOT_FOUND' ]",
      'demo-001-demo-hotels-',
      'a: { points: 5200 }',
      'b: MEMBER_NOT_FOUND',
      'please correct input.email',
      'POINTS_CHANGED demo-001',
      'answer with 400: HEADERS',
      'Demo Hotels: Gold',
    ])
      expect(stdout).toContain(line);
    expect(Number(lines.findLast((line) => /^\d{3}$/.test(line)))).toBeLessThan(600);
  } finally {
    await service?.kill();
    data.remove();
  }
});

/** An event shows within a second of its change, on a machine with nothing else to do. */
function eventsAreThere(endpoint: string, key = ''): Promise<boolean> {
  const send = createClient(new URL(endpoint).origin, key);
  const query = '{ events(types: [POINTS_CHANGED]) { edges { node { memberId } } } }';
  return until(async () => (await send({ query })).text.includes('"demo-001"'));
}

function compile(cwd: string, ...args: string[]): string {
  const command = [TSC, '-p', '.', '--pretty', 'false', ...args];
  return spawnSync(process.execPath, command, { cwd, encoding: 'utf8' }).stdout;
}

function run(cwd: string, command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed: ${stdout}${stderr}`);
  return stdout;
}
