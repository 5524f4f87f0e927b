// The rules about imports and source files hold, and each of them can be broken.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { breaches } from '../../bin/tools/check.ts';
import { ROOT } from '../support/files.ts';
import { type Folder, temporaryFolder } from '../support/folder.ts';

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
function project(files: Record<string, string>): Folder {
  const folder = temporaryFolder();
  const { path } = folder;
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
  for (const [name, place] of Object.entries(folders)) {
    const exports = name === 'runtime' ? { './*.ts': './src/*.ts' } : './src/index.ts';
    const manifest = { name: `@partner-loyalty/${name}`, exports };
    write(`${place}/package.json`, JSON.stringify(manifest));
    write(`${place}/src/index.ts`, '');
    symlinkSync(join(path, place), join(path, 'node_modules/@partner-loyalty', name));
  }
  write('runtime/src/errors.ts', '');
  for (const name of ['lmdb', 'jose', '@apollo/composition', '@apollo/federation-internals'])
    write(`node_modules/${name}/index.js`, '');
  for (const [file, text] of Object.entries(files)) write(file, text);
  return folder;
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
    'shell imports only itself, runtime, members, standings, gateway',
    'bin/cli/shell/a.ts',
    "import '../command.ts';",
  ],
  [
    'what an extension adds to gateway imports nothing of the other side',
    'extensions/mcp/src/gateway/a.ts',
    "import type { A } from '@partner-loyalty/members';",
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
    'subgraphs/standings/src/b.ts',
    "import type { A } from 'lmdb';",
  ],
  [
    'transport imports no subgraph',
    'runtime/src/transport/a.ts',
    "import type { A } from '../subgraph/types.ts';",
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

test('files begin with a sentence, and comments have short lines', () => {
  const good = { path: 'bin/a.ts', text: '// What lives here.\n' };
  expect(breaches([good])).toEqual([]);
  expect(breaches([{ ...good, text: '' }])).toHaveLength(1);
  expect(breaches([{ ...good, text: 'const a = 1;\n' }])).toHaveLength(1);
  expect(breaches([{ ...good, text: `${good.text}// ${'long '.repeat(20)}\n` }])).toHaveLength(1);
});
