// The tests are four projects. A file's name or folder says which project it belongs to:
//   unit     x.test.ts: needs no server
//   engines  x.engines.test.ts: needs MongoDB or Redis
//   deploy   test/deploy: needs kubectl and promtool
//   e2e      x.e2e.test.ts, and all of test/e2e, test/security and test/faults: the whole service
// Servers start only for files of engines and e2e, so `npx jest PATH` of a unit test starts none.
const swc = [
  '@swc/jest',
  { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
];

const shared = {
  testEnvironment: 'node',
  // swc erases the types and turns the few ESM-only packages into CommonJS.
  transform: { '\\.ts$': swc, '\\.m?js$': swc },
  transformIgnorePatterns: [
    '/node_modules/(?!(@apollo/client|graphql-request|jose|marked|oauth4webapi|oidc-provider|openid-client|temporal-polyfill|temporal-utils)/)',
  ],
};
const SUPPORT = '<rootDir>/test/support';
const onServers = {
  globalSetup: `${SUPPORT}/setup.ts`,
  globalTeardown: `${SUPPORT}/teardown.ts`,
};

const SOURCES = '<rootDir>/{runtime,gateway,subgraphs,extensions,bin,client,test}/**';
const E2E_FOLDERS = '<rootDir>/test/{e2e,security,faults}/**';

export default {
  // Some tests wait for timers of the service, so a third worker keeps two cores busy.
  maxWorkers: 3,
  testSequencer: `${SUPPORT}/sequencer.js`,
  // Enough for a machine three times slower than a developer's.
  testTimeout: 120_000,
  projects: [
    {
      displayName: 'unit',
      ...shared,
      testMatch: [`${SOURCES}/!(*.engines|*.e2e).test.ts`],
      testPathIgnorePatterns: ['<rootDir>/test/(e2e|security|faults|deploy)/'],
    },
    {
      displayName: 'engines',
      ...shared,
      ...onServers,
      testMatch: [`${SOURCES}/*.engines.test.ts`],
    },
    {
      displayName: 'deploy',
      ...shared,
      globalSetup: `${SUPPORT}/setup.deploy.ts`,
      testMatch: ['<rootDir>/test/deploy/*.test.ts'],
    },
    {
      displayName: 'e2e',
      ...shared,
      ...onServers,
      testMatch: [`${SOURCES}/*.e2e.test.ts`, `${E2E_FOLDERS}/*.test.ts`],
    },
  ],
};
