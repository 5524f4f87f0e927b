// The rules about imports and source files hold, and each of them can be broken.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { breaches } from '../../bin/tools/check.ts';
import { ROOT } from '../support/files.ts';
import { type Folder, temporaryFolder } from '../support/folder.ts';

const CONFIG = join(ROOT, '.dependency-cruiser.cjs');
const PARTS = ['runtime', 'gateway', 'subgraphs', 'extensions', 'bin', 'client/src', 'examples'];

type Violation = { rule: { name: string }; from: string };

/** What dependency-cruiser finds in a folder. */
function violationsIn(folder: string): string[] {
  const cruiser = join(ROOT, 'node_modules/.bin/depcruise');
  const parts = PARTS.filter((part) => existsSync(join(folder, part)));
  const args = ['--config', CONFIG, '--output-type', 'json', ...parts];
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
  for (const name of ['lmdb', 'jose']) write(`node_modules/${name}/index.js`, '');
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
    'gateway imports only itself, runtime',
    'gateway/src/d.ts',
    "import type { A } from '@partner-loyalty/mcp';",
  ],
  [
    'what an extension adds to gateway imports nothing of the other side',
    'extensions/mcp/src/gateway/a.ts',
    "import type { A } from '@partner-loyalty/members';",
  ],
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
  ['a package declares what it imports', 'runtime/src/d.ts', "import { jwtVerify } from 'jose';"],
];

describe('a broken rule about imports is found', () => {
  let found: string[];

  beforeAll(() => {
    const broken = project({
      'runtime/src/b.ts': "import type { A } from './a.ts';",
      'gateway/src/one/a.ts': "import type { B } from '../two/b.ts';",
      'gateway/src/one/c.ts': '',
      'gateway/src/two/b.ts': "import '../one/c.ts';",
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
