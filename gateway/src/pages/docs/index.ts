// The public list of the documentation, for the build tools.

export type { Example } from './example.ts';
export { EXAMPLES, exampleKey, TOKEN } from './examples.ts';
export { guideTitle } from './guides.ts';
export { GUIDES } from './paths.ts';
