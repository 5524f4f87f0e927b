// The public list of the documentation, for the build tools.

export type { Example } from './example.ts';
export { EXAMPLES, exampleKey, TOKEN } from './examples.ts';
export { pageTitle } from './guides.ts';
export { PAGES } from './paths.ts';
