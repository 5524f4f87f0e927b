// The architecture holds: every source file keeps the rules, and every rule can be broken.
import { breaches, RULES, sourceFiles } from '../bin/tools/architecture.ts';

test('every source file keeps the rules', () => {
  expect(breaches(sourceFiles())).toEqual([]);
});

const BREACHES: [rule: string, path: string, line: string][] = [
  [
    'a part imports only the parts below it',
    'runtime/src/observe/log.ts',
    "import { handle } from '@partner-loyalty/gateway';",
  ],
  [
    'a part imports only the parts below it',
    'runtime/src/observe/log.ts',
    "import type {\n  Member,\n} from '../../subgraphs/members/src/store/store.ts';",
  ],
  [
    'a part imports only the parts below it',
    'subgraphs/members/src/index.ts',
    "export { tierOf } from '@partner-loyalty/standings';",
  ],
  [
    'a part imports only the parts below it',
    'subgraphs/standings/src/main.ts',
    "await import('@partner-loyalty/gateway');",
  ],
  [
    'a part imports only the parts below it',
    'gateway/src/handle.ts',
    "import { createMembers } from '@partner-loyalty/members';",
  ],
  [
    'a part imports only the parts below it',
    'gateway/src/handle.ts',
    "import '../../bin/start.ts';",
  ],
  [
    'a part imports only the parts below it',
    'bin/start.ts',
    "import { startRedis } from './support/servers.ts';",
  ],
  [
    'a part imports only the parts below it',
    'gateway/src/identity/apikey.test.ts',
    "import { yearOf } from '@partner-loyalty/standings';",
  ],
  [
    'another package is imported by its name',
    'gateway/src/handle.ts',
    "import { fail } from '../../runtime/src/errors.ts';",
  ],
  [
    'resolvers and rules know the store, never an engine',
    'subgraphs/members/src/resolvers.ts',
    "import { openLmdbStore } from './store.lmdb.ts';",
  ],
  [
    'resolvers and rules know the store, never an engine',
    'subgraphs/standings/src/tiers.ts',
    "import { MongoClient } from 'mongodb';",
  ],
  [
    "the graph's composer and gateway have one file each",
    'gateway/src/handle.ts',
    "import { Supergraph } from '@apollo/federation-internals';",
  ],
  [
    "the graph's composer and gateway have one file each",
    'gateway/src/surface/surface.ts',
    "import { composeServices } from '@apollo/composition';",
  ],
  [
    'what is imported is declared by the package itself',
    'runtime/src/observe/log.ts',
    "import { jwtVerify } from 'jose';",
  ],
  [
    'what is imported is declared by the package itself',
    'subgraphs/members/src/email.ts',
    "import fc from 'fast-check/lib/index.js';",
  ],
  ['the environment is read in one place', 'gateway/src/main.ts', 'const port = process.env.PORT;'],
  ['the environment is read in one place', 'bin/start.ts', 'start(process . env);'],
  ['a file begins with one sentence on what lives in it', 'gateway/src/main.ts', ''],
];

test.each(BREACHES)('%s: refused in %s: %s', (rule, path, line) => {
  const opening =
    rule === 'a file begins with one sentence on what lives in it' ? '' : '// What lives here.\n';
  expect(
    breaches([{ path, text: `${opening}${line}\n` }]).filter((breach) =>
      breach.endsWith(`(${rule})`),
    ),
  ).toHaveLength(1);
});

test('every rule is shown to fail', () => {
  expect(new Set(BREACHES.map(([rule]) => rule))).toEqual(new Set(Object.keys(RULES)));
});

const KEPT: [path: string, line: string][] = [
  [
    'gateway/src/handle.ts',
    "import { fail } from '@partner-loyalty/runtime';\nimport { take } from './limit.ts';",
  ],
  [
    'gateway/src/surface/planner.ts',
    "import { Supergraph } from '@apollo/federation-internals';\nimport { QueryPlanner } from '@apollo/query-planner';",
  ],
  [
    'gateway/src/identity/apikey.test.ts',
    "import fc from 'fast-check';\nimport { startRedis } from '../../test/support/servers.ts';",
  ],
  [
    'subgraphs/members/src/index.ts',
    "import { openLmdbStore } from './store.lmdb.ts';\n// process.env is read elsewhere.",
  ],
  ['runtime/src/settings/settings.ts', 'export const readEnv = () => process.env;'],
  [
    'bin/cli/commands/keys.ts',
    "group\n  .command('import')\n  .argument('file');\nimport { issueKey } from '@partner-loyalty/gateway';",
  ],
];

test.each(KEPT)('allowed in %s: %s', (path, line) => {
  expect(breaches([{ path, text: `// What lives here.\n${line}\n` }])).toEqual([]);
});
