// The pages of docs/callers: their Markdown, and the same as HTML.
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { codeBlock, html } from '@partner-loyalty/runtime/pages/html.ts';
import { Marked, type Tokens } from 'marked';
import { highlighted } from './highlight.ts';
import { GUIDE_EXAMPLES, guideExamplePath, PAGES, pagePath } from './paths.ts';

const ROOT = join(import.meta.dirname, '../../../..');
/** Where the pages and their examples expect the service, which is right in a checkout. */
const CHECKOUT_URL = 'http://localhost:4000';

/**
 * The Markdown of one of PAGES, for the service at this base URL, which has no slash at its end.
 * Throws if the page has no file.
 */
export function pageText(page: string, baseUrl = CHECKOUT_URL): string {
  return textFor(baseUrl, fileOf(page));
}

/** The same of a program that pages link to; `path` is one of GUIDE_EXAMPLES. */
export function guideExample(path: string, baseUrl: string): string {
  return textFor(baseUrl, `examples/${path}`);
}

function textFor(baseUrl: string, path: string): string {
  return readFileSync(join(ROOT, path), 'utf8').replaceAll(CHECKOUT_URL, baseUrl);
}

/** Throws if the page has no file, or its first line no title that says the words of its name. */
export function pageTitle(page: string): string {
  const [, title = ''] = /^# (.*)\n/.exec(pageText(page)) ?? [];
  const words = posix.basename(page).split('-');
  const missing = words.filter((word) => !title.toLowerCase().includes(word));
  if (missing.length === 0) return title;
  throw new Error(`${fileOf(page)}: its first line is no title with ${missing.join(', ')}`);
}

/** The headings of level 2, with their anchors. */
export function pageSections(page: string): { id: string; title: string }[] {
  return markdown
    .lexer(pageText(page))
    .filter((token): token is Tokens.Heading => token.type === 'heading' && token.depth === 2)
    .map(({ text }) => ({ id: anchorOf(text), title: text.replaceAll('`', '') }));
}

/** HTML in the Markdown of a page stays text. */
export function markdownHtml(text: string, page: string): string {
  return markdown.parse(text, {
    async: false,
    walkTokens(token) {
      if (token.type === 'link') token.href = targetOf(token.href, page) ?? '';
    },
  });
}

const markdown = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    code: ({ text, lang = '' }) =>
      `${codeBlock(`Example, ${lang || 'text'}`, highlighted(text, lang)).html}\n`,
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      return href === '' ? text : html`<a href="${href}">${{ html: text }}</a>`.html;
    },
    // HTML stays text, as it does in what comes from schemas.
    html: ({ text }) => html`${text}`.html,
  },
});

/** The anchor that GitHub gives to a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');
}

/** Undefined for other files of the project, which the service does not serve. */
function targetOf(href: string, from: string): string | undefined {
  if (/^(https:\/\/|\/|#)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const file = posix.join(posix.dirname(fileOf(from)), path);
  const example = GUIDE_EXAMPLES.find((each) => file === `examples/${each}`);
  if (example !== undefined) return guideExamplePath(example);
  const page = PAGES.find((each) => file === fileOf(each));
  return page && `${pagePath(page)}${anchor === undefined ? '' : `#${anchor}`}`;
}

function fileOf(page: string): string {
  return `docs/callers/${page}.md`;
}
