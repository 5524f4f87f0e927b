// The public list of the documentation, for the build tools.

export { EXAMPLES, type Example, exampleKey, TOKEN } from './examples.ts';
export { guideTitle } from './guides.ts';
export { GUIDES } from './paths.ts';
