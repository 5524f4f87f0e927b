// The engines that suites named `x.stores.test.ts` run on, by the command that runs them.
export type Engine = 'lmdb' | 'mongodb';

declare global {
  // jest.config.js sets it for each of its projects.
  var storeEngines: readonly Engine[] | undefined;
}

export const ENGINES: readonly Engine[] = globalThis.storeEngines ?? ['lmdb'];

/** The same for suites of the engine itself, which has an implementation in memory as well. */
export const ALL_ENGINES: readonly (Engine | 'memory')[] = ENGINES.includes('lmdb')
  ? ['memory', ...ENGINES]
  : ENGINES;
