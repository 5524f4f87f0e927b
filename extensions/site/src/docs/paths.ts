// What is below `/docs`, without what it takes to make it.

/** The guides, in the order of the pages: docs/callers/guides has a file of this name for each. */
export const GUIDES = [
  'check-in',
  'desk',
  'nightly-batch',
  'record-and-reverse',
  'events-and-webhooks',
  'sign-in-web',
  'sign-in-mobile',
  'errors-and-retries',
  'going-live',
  'privacy',
] as const;

/** What callers can rely on, in detail: docs/callers has a file of this name for each. */
export const TOPICS: readonly string[] = [
  'requests',
  'errors',
  'codes',
  'headers',
  'limits',
  'keys',
  'members',
  'standing',
  'events',
  'webhooks',
  'openid',
  'console',
  'sandbox',
  'mcp',
  'versioning',
];

export const GUIDE_PAGES: readonly string[] = GUIDES.map((name) => `guides/${name}`);
/** The pages that are files of docs/callers, by their names there without `.md`. */
export const PAGES: readonly string[] = [...GUIDE_PAGES, ...TOPICS];

/** Programs in examples/ that readers of guides copy. */
export const GUIDE_EXAMPLES = [
  'node/signin.web.mjs',
  'node/signin.native.mjs',
  'browser/signin.html',
] as const;

export const DOCS_PATH = '/docs';
export const LLMS_PATH = '/llms.txt';
export const SCRIPT_PATH = '/docs/app.js';
export const LICENSES_PATH = '/docs/licenses.txt';
/** Where the text of a page begins, which is what can be found. */
export const TEXT_START = '<div class="text">';
/** What the script searches. */
export const INDEX_PATH = '/docs/search.json';

export function pagePath(page: string): string {
  return `/docs/${page}`;
}

export function guidePath(name: string): string {
  return pagePath(`guides/${name}`);
}

/** The path of one of GUIDE_EXAMPLES: below the guides, by its last name. */
export function guideExamplePath(example: string): string {
  return guidePath(example.replace(/^.*\//, ''));
}

/** The path of an operation or a type in the reference. */
export function referencePath(
  surface: string,
  kind: 'queries' | 'mutations' | 'types',
  name: string,
): string {
  return `/docs/${surface}/${kind}/${name}`;
}

export function schemaPath(surface: string): string {
  return `/docs/schema/${surface}.graphql`;
}
