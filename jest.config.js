// The tests are five projects. The end of a file's name says which project it belongs to:
//   x.test.ts            node       needs Node alone: `npm test`
//   x.servers.test.ts    servers    needs MongoDB and Redis, or kills processes
//   x.stores.test.ts     both       on the embedded store in the one, on MongoDB in the other
//   x.browser.test.ts    browser    needs Chromium
//   x.languages.test.ts  languages  needs compilers
//   x.deploy.test.ts     deploy     needs kubectl and promtool
const swc = [
  '@swc/jest',
  { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
];
const SUPPORT = '<rootDir>/test/support';
const SOURCES = '<rootDir>/{runtime,gateway,subgraphs,extensions,bin,client,test}/**';

const project = (displayName, files, storeEngines = ['lmdb']) => ({
  displayName,
  testEnvironment: `${SUPPORT}/setup/environment.js`,
  testMatch: files.map((name) => `${SOURCES}/${name}.test.ts`),
  // swc erases the types. Packages are loaded by Node, once for all files of a worker.
  transform: { '\\.[jt]s$': swc },
  runtime: `${SUPPORT}/setup/runtime.js`,
  // Node itself needs it, in whose own context the tests run.
  fakeTimers: { doNotFake: ['nextTick'] },
  globals: { storeEngines },
  setupFiles: [`${SUPPORT}/setup/quiet.ts`],
  globalSetup: `${SUPPORT}/setup/${displayName}.ts`,
  globalTeardown: `${SUPPORT}/setup/teardown.ts`,
});

export default {
  // Some tests wait for timers of the service, so a third worker keeps two cores busy.
  maxWorkers: 3,
  // What files leave behind would fill a worker with gigabytes, and its time with their collection.
  workerIdleMemoryLimit: '700MB',
  testSequencer: `${SUPPORT}/sequencer.js`,
  // Enough for a machine three times slower than a developer's.
  testTimeout: 120_000,
  projects: [
    project('node', ['!(*.servers|*.browser|*.languages|*.deploy)']),
    project('servers', ['*.servers', '*.stores'], ['mongodb']),
    project('browser', ['*.browser']),
    project('languages', ['*.languages']),
    project('deploy', ['*.deploy']),
  ],
};
