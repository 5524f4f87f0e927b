// Which file may import which, types included; `npm run check` proves it.

const { readdirSync } = require('node:fs');
const { join } = require('node:path');

const CORE = ['runtime', 'members', 'standings', 'gateway'];

/** An extension imports the core, for its commands the shell, and no other extension. */
const EXTENSIONS = readdirSync(join(__dirname, 'extensions')).map((name) => [
  name,
  { folder: `extensions/${name}`, mayImport: [...CORE, 'shell'] },
]);

/** The packages of the project: their folders, and the packages that each may import. */
const PACKAGES = {
  runtime: { folder: 'runtime', mayImport: [] },
  members: { folder: 'subgraphs/members', mayImport: ['runtime'] },
  standings: { folder: 'subgraphs/standings', mayImport: ['runtime'] },
  gateway: { folder: 'gateway', mayImport: ['runtime'] },
  ...Object.fromEntries(EXTENSIONS),
  shell: { folder: 'bin/cli/shell', mayImport: CORE },
  bin: { folder: 'bin', mayImport: [...CORE, ...EXTENSIONS.map(([name]) => name)] },
  client: { folder: 'client', mayImport: [] },
};
const FOLDERS = Object.values(PACKAGES).map(({ folder }) => folder);
const SOURCES = `^(${FOLDERS.join('|')})/`;

/** npm packages that only one place may import. */
const HOMES = {
  '@apollo/federation-internals': '^gateway/src/execute/(run.apollo|federated)\\.ts$',
  '@apollo/composition': '^extensions/registry/src/publish/',
  '@graphql-inspector/core': '^extensions/registry/src/publish/',
  '@apollo/query-planner': '^gateway/src/execute/',
  '@modelcontextprotocol': '^extensions/mcp/src/protocol\\.ts$',
  '@opentelemetry': '^runtime/src/observe/tracing/otel\\.ts$',
  'oidc-provider': '^extensions/provider/src/members/',
};

module.exports = {
  forbidden: [
    {
      name: 'no circles between files',
      severity: 'error',
      from: { path: [SOURCES, '^bench/'] },
      to: { circular: true },
    },
    {
      name: 'no circles between folders',
      severity: 'error',
      scope: 'folder',
      from: { path: [SOURCES, '^bench/'] },
      to: { circular: true },
    },
    ...Object.entries(PACKAGES).map(([name, { folder, mayImport }]) => ({
      name: `${name} imports only ${['itself', ...mayImport].join(', ')}`,
      severity: 'error',
      // This tool records what the tests' service with the demo answers.
      from: { path: `^${folder}/`, pathNot: '^bin/tools/examples\\.ts$' },
      to: {
        path: '^(runtime|gateway|subgraphs|extensions|bin|client|test|bench)/',
        pathNot: [folder, ...mayImport.map((other) => PACKAGES[other].folder)].map(
          (allowed) => `^${allowed}/`,
        ),
      },
    })),
    ...FOLDERS.map((folder) => ({
      name: `${folder} imports other packages by their names`,
      severity: 'error',
      from: { path: `^${folder}/` },
      to: { path: SOURCES, pathNot: `^${folder}/`, dependencyTypes: ['local'] },
    })),
    ...[
      ['gateway', '^subgraphs/|^extensions/[^/]+/src/members/'],
      ['members', '^gateway/|^extensions/[^/]+/src/gateway/'],
    ].map(([side, others]) => ({
      // Each side is in the image of its service, without the other one.
      name: `what an extension adds to ${side} imports nothing of the other side`,
      severity: 'error',
      from: { path: `^extensions/[^/]+/src/${side}/` },
      to: { path: others },
    })),
    {
      name: "the core's commands import no extension",
      severity: 'error',
      from: { path: '^bin/cli/' },
      to: { path: '^extensions/' },
    },
    {
      // Not even modules of Node: it runs in browsers.
      name: 'client has no dependencies',
      severity: 'error',
      from: { path: '^client/' },
      to: { dependencyTypesNot: ['local'] },
    },
    {
      name: 'the examples import nothing of the service but its client',
      severity: 'error',
      from: { path: '^examples/' },
      to: {
        path: '(^|/)(runtime|gateway|subgraphs|extensions|bin|client(?!/dist)|test|bench)/|@partner-loyalty/',
        pathNot: '^@partner-loyalty/client$',
      },
    },
    {
      name: 'resolvers and rules know the store, never an engine',
      severity: 'error',
      from: {
        path: SOURCES,
        // Some commands act on the embedded store's files.
        pathNot: '(^|[./])(lmdb|mongo|open|stores|index)\\.ts$|^bin/cli/commands/',
      },
      to: { path: '\\.(lmdb|mongo)\\.ts$|(^|/)node_modules/(lmdb|mongodb)/' },
    },
    {
      name: 'transport imports no subgraph',
      severity: 'error',
      from: { path: '^runtime/src/transport/' },
      to: { path: '^runtime/src/subgraph/' },
    },
    ...Object.entries(HOMES).map(([name, home]) => ({
      name: `${name} has one home`,
      severity: 'error',
      from: { path: SOURCES, pathNot: home },
      to: { path: `node_modules/${name}/` },
    })),
    {
      // The build tools run only in a checkout, which has the root's dependencies. The
      // launcher needs them only on a Node that does not run TypeScript, which no image has.
      name: 'a package declares what it imports',
      severity: 'error',
      from: { path: SOURCES, pathNot: '^bin/tools/|^runtime/(program|bundle)\\.js$' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev', 'unknown'] },
    },
    {
      name: 'every import leads to a file',
      severity: 'error',
      from: { path: SOURCES },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // TypeScript 7 has no parser that dependency-cruiser can use.
    parser: 'swc',
    moduleSystems: ['es6'],
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // What is packed is made of what is checked.
    exclude: { path: '\\.test\\.ts$|/test/|(^|/)dist/programs/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
