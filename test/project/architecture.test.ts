// The rules about imports and source files hold, and each of them can be broken.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { breaches } from '../../bin/tools/check.ts';

const ROOT = join(import.meta.dirname, '../..');
const CONFIG = join(ROOT, '.dependency-cruiser.cjs');
const PARTS = ['runtime', 'gateway', 'subgraphs', 'extensions', 'bin', 'client/src', 'examples'];

const EXTENSIONS = readdirSync(join(ROOT, 'extensions'));

type Violation = { rule: { name: string }; from: string };

/** What dependency-cruiser finds in a folder. */
function violationsIn(folder: string): string[] {
  const cruiser = join(ROOT, 'node_modules/.bin/depcruise');
  const args = ['--config', CONFIG, '--output-type', 'json', ...PARTS];
  const output = execFileSync(cruiser, args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const { violations }: { violations: Violation[] } = JSON.parse(output).summary;
  return violations.map(({ rule, from }) => `${rule.name}: ${from}`);
}

/** A folder with the project's packages and these files. */
function project(files: Record<string, string>): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'architecture-'));
  const write = (file: string, text: string) => {
    mkdirSync(join(path, dirname(file)), { recursive: true });
    writeFileSync(join(path, file), text);
  };
  const folders = {
    runtime: 'runtime',
    gateway: 'gateway',
    members: 'subgraphs/members',
    standings: 'subgraphs/standings',
    mcp: 'extensions/mcp',
    site: 'extensions/site',
    bin: 'bin',
    client: 'client',
  };
  mkdirSync(join(path, 'node_modules/@partner-loyalty'), { recursive: true });
  for (const [name, folder] of Object.entries(folders)) {
    const exports = name === 'runtime' ? { './*.ts': './src/*.ts' } : './src/index.ts';
    const manifest = { name: `@partner-loyalty/${name}`, exports };
    write(`${folder}/package.json`, JSON.stringify(manifest));
    write(`${folder}/src/index.ts`, '');
    symlinkSync(join(path, folder), join(path, 'node_modules/@partner-loyalty', name));
  }
  write('runtime/src/errors.ts', '');
  for (const name of ['lmdb', 'jose', '@apollo/composition', '@apollo/federation-internals'])
    write(`node_modules/${name}/index.js`, '');
  for (const [file, text] of Object.entries(files)) write(file, text);
  return { path, remove: () => rmSync(path, { recursive: true }) };
}

test('every source file keeps the rules about imports', () => {
  expect(violationsIn(ROOT)).toEqual([]);
});

const BROKEN: [rule: string, file: string, text: string][] = [
  ['no circles between files', 'runtime/src/a.ts', "import './b.ts';"],
  ['no circles between folders', 'gateway/src/one', ''],
  [
    'runtime imports only itself',
    'runtime/src/c.ts',
    "import type { A } from '@partner-loyalty/gateway';",
  ],
  [
    'members imports only itself, runtime',
    'subgraphs/members/src/a.ts',
    "export { a } from '@partner-loyalty/standings';",
  ],
  [
    'standings imports only itself, runtime',
    'subgraphs/standings/src/a.ts',
    "await import('@partner-loyalty/gateway');",
  ],
  [
    'gateway imports only itself, runtime',
    'gateway/src/a.ts',
    "import { a } from '@partner-loyalty/members';",
  ],
  [
    'gateway imports only itself, runtime',
    'gateway/src/d.ts',
    "import type { A } from '@partner-loyalty/mcp';",
  ],
  [
    'mcp imports only itself, runtime, members, standings, gateway, shell',
    'extensions/mcp/src/a.ts',
    "import type { A } from '@partner-loyalty/site';",
  ],
  [
    'mcp imports only itself, runtime, members, standings, gateway, shell',
    'extensions/mcp/src/b.ts',
    "import { a } from '@partner-loyalty/bin';",
  ],
  [
    'shell imports only itself, runtime, members, standings, gateway',
    'bin/cli/shell/a.ts',
    "import '../command.ts';",
  ],
  [
    'what an extension adds to gateway imports nothing of the other side',
    'extensions/mcp/src/gateway/a.ts',
    "import type { A } from '@partner-loyalty/members';",
  ],
  [
    'what an extension adds to members imports nothing of the other side',
    'extensions/mcp/src/members/a.ts',
    "import '../gateway/a.ts';",
  ],
  ["the core's commands import no extension", 'bin/cli/a.ts', "import '@partner-loyalty/mcp';"],
  [
    `bin imports only itself, runtime, members, standings, gateway, ${EXTENSIONS.join(', ')}`,
    'bin/a.ts',
    "import { a } from '../test/support/a.ts';",
  ],
  [
    'client imports only itself',
    'client/src/a.ts',
    "import type { A } from '@partner-loyalty/runtime/errors.ts';",
  ],
  ['client has no dependencies', 'client/src/b.ts', "import { createHash } from 'node:crypto';"],
  [
    'gateway imports other packages by their names',
    'gateway/src/b.ts',
    "import { fail } from '../../runtime/src/errors.ts';",
  ],
  [
    'resolvers and rules know the store, never an engine',
    'subgraphs/members/src/b.ts',
    "import { a } from './store.lmdb.ts';",
  ],
  [
    'resolvers and rules know the store, never an engine',
    'subgraphs/standings/src/b.ts',
    "import type { A } from 'lmdb';",
  ],
  [
    'transport imports no subgraph',
    'runtime/src/transport/a.ts',
    "import type { A } from '../subgraph/types.ts';",
  ],
  [
    '@apollo/federation-internals has one home',
    'gateway/src/c.ts',
    "import { Supergraph } from '@apollo/federation-internals';",
  ],
  [
    '@apollo/composition has one home',
    'gateway/src/execute/planner.ts',
    "import { composeServices } from '@apollo/composition';",
  ],
  [
    'the examples import nothing of the service but its client',
    'examples/offers/a.ts',
    "import { fail } from '@partner-loyalty/runtime/errors.ts';",
  ],
  ['a package declares what it imports', 'runtime/src/d.ts', "import { jwtVerify } from 'jose';"],
  ['every import leads to a file', 'runtime/src/e.ts', "import './nowhere.ts';"],
];

describe('a broken rule about imports is found', () => {
  let found: string[];

  beforeAll(() => {
    const broken = project({
      'runtime/src/b.ts': "import type { A } from './a.ts';",
      'gateway/src/one/a.ts': "import type { B } from '../two/b.ts';",
      'gateway/src/one/c.ts': '',
      'gateway/src/two/b.ts': "import '../one/c.ts';",
      'runtime/src/subgraph/types.ts': '',
      'subgraphs/members/src/store.lmdb.ts': '',
      'test/support/a.ts': '',
      'bin/cli/command.ts': '',
      ...Object.fromEntries(BROKEN.flatMap(([, file, text]) => (text ? [[file, text]] : []))),
    });
    found = violationsIn(broken.path);
    broken.remove();
  });

  test.each(BROKEN)('%s: %s', (rule, file) => {
    expect(found).toContain(`${rule}: ${file}`);
  });
});

test('imports that keep the rules are not reported', () => {
  const kept = project({
    'gateway/src/a.ts':
      "import { fail } from '@partner-loyalty/runtime/errors.ts';\nimport './b.ts';",
    'gateway/src/b.ts': '',
    'examples/offers/a.ts': "import './b.ts';",
    'examples/offers/b.ts': '',
    'gateway/src/execute/planner.ts': '',
    'subgraphs/members/src/index.ts': "import { open } from './store.lmdb.ts';",
    'subgraphs/members/src/store.lmdb.ts': '',
    'bin/a.ts': "import { issueKey } from '@partner-loyalty/gateway';",
    'extensions/mcp/src/a.ts': "import type { Core } from '@partner-loyalty/gateway';",
    'bin/extensions.ts': "import '@partner-loyalty/mcp';",
    'gateway/src/a.test.ts': "import '../../test/support/servers.ts';",
  });
  const found = violationsIn(kept.path);
  kept.remove();
  expect(found).toEqual([]);
});

test('files begin with a sentence, and comments have short lines', () => {
  const good = { path: 'bin/a.ts', text: '// What lives here.\n' };
  expect(breaches([good])).toEqual([]);
  expect(breaches([{ ...good, text: '' }])).toHaveLength(1);
  expect(breaches([{ ...good, text: 'const a = 1;\n' }])).toHaveLength(1);
  expect(breaches([{ ...good, text: `${good.text}// ${'long '.repeat(20)}\n` }])).toHaveLength(1);
});
