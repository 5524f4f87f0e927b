// The public list of the documentation, for the build tools.

export { ERROR_EXAMPLE, EXAMPLES, type Example, exampleKey, TOKEN } from './examples.ts';
export { readGuide } from './guides.ts';
export { LANGUAGE_NAMES, type Language, programOf } from './languages.ts';
export { GUIDES } from './paths.ts';
