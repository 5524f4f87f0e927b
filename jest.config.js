// Runs every *.test.ts of every package; swc erases the types and turns the few ESM-only packages into CommonJS.
const swc = [
  '@swc/jest',
  { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
];

export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/{runtime,gateway,subgraphs,bin,test}/**/*.test.ts'],
  globalSetup: '<rootDir>/test/support/start.ts',
  globalTeardown: '<rootDir>/test/support/stop.ts',
  transform: { '\\.ts$': swc, '\\.m?js$': swc },
  transformIgnorePatterns: ['/node_modules/(?!(jose|temporal-polyfill|temporal-utils)/)'],
  maxWorkers: 2,
  testTimeout: 30_000,
};
