// Three projects. A test's name and place say which one runs it:
//   unit     x.test.ts          one process without a server, a database or a browser
//   engines  x.engines.test.ts  MongoDB, Redis and LMDB
//   e2e      x.e2e.test.ts      processes of the service, and stock Apollo beside it
//            test/{e2e,security,faults}/x.test.ts
// Only engines and e2e start servers. `npx jest PATH` runs the project that the file belongs to.
const swc = [
  '@swc/jest',
  { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
];

const shared = {
  testEnvironment: 'node',
  // swc erases the types and turns the few ESM-only packages into CommonJS.
  transform: { '\\.ts$': swc, '\\.m?js$': swc },
  transformIgnorePatterns: ['/node_modules/(?!(jose|temporal-polyfill|temporal-utils)/)'],
};
const onServers = {
  globalSetup: '<rootDir>/test/support/setup.ts',
  globalTeardown: '<rootDir>/test/support/teardown.ts',
  // Enough for a machine that is three times slower than a developer's.
  testTimeout: 120_000,
};

const SOURCES = '<rootDir>/{runtime,gateway,subgraphs,bin,test}/**';
const E2E_FOLDERS = '<rootDir>/test/{e2e,security,faults}/**';

export default {
  maxWorkers: 2,
  // Enough for a machine three times slower than a developer's.
  testTimeout: 120_000,
  projects: [
    {
      displayName: 'unit',
      ...shared,
      testMatch: [`${SOURCES}/!(*.engines|*.e2e).test.ts`],
      testPathIgnorePatterns: ['<rootDir>/test/(e2e|security|faults)/'],
    },
    {
      displayName: 'engines',
      ...shared,
      ...onServers,
      testMatch: [`${SOURCES}/*.engines.test.ts`],
    },
    {
      displayName: 'e2e',
      ...shared,
      ...onServers,
      testMatch: [`${SOURCES}/*.e2e.test.ts`, `${E2E_FOLDERS}/*.test.ts`],
    },
  ],
};
