// The guides of docs/guides: their Markdown, and the same as HTML.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { codeBlock } from '../frame.ts';
import { html } from '../html.ts';
import { GUIDE_EXAMPLES, GUIDES, guideExamplePath, guidePath } from './paths.ts';

const ROOT = join(import.meta.dirname, '../../../..');
/** Where the guides and their examples expect the service, which is right in a checkout. */
const CHECKOUT_URL = 'http://localhost:4000';

/**
 * The Markdown of a guide, for the service at this base URL, without a slash at its end. Throws if
 * the guide has no file.
 */
export function guideText(name: string, baseUrl = CHECKOUT_URL): string {
  return textFor(baseUrl, `docs/guides/${name}.md`);
}

/** The same of a program that guides link to; `path` is one of GUIDE_EXAMPLES. */
export function guideExample(path: string, baseUrl: string): string {
  return textFor(baseUrl, `examples/${path}`);
}

function textFor(baseUrl: string, path: string): string {
  return readFileSync(join(ROOT, path), 'utf8').replaceAll(CHECKOUT_URL, baseUrl);
}

/** Throws if the guide has no file, or its first line no title that says the words of its name. */
export function guideTitle(name: string): string {
  const [, title = ''] = /^# (.*)\n/.exec(guideText(name)) ?? [];
  const missing = name.split('-').filter((word) => !title.toLowerCase().includes(word));
  if (missing.length === 0) return title;
  throw new Error(`docs/guides/${name}.md: its first line is no title with ${missing.join(', ')}`);
}

/** The headings of level 2, with their anchors. */
export function guideSections(name: string): { id: string; title: string }[] {
  return markdown
    .lexer(guideText(name))
    .filter((token): token is Tokens.Heading => token.type === 'heading' && token.depth === 2)
    .map(({ text }) => ({ id: anchorOf(text), title: text.replaceAll('`', '') }));
}

/** HTML in the Markdown stays text. */
export function markdownHtml(text: string): string {
  return markdown.parse(text, { async: false });
}

const markdown = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    code: ({ text, lang }) => `${codeBlock(`Example, ${lang || 'text'}`, text).html}\n`,
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      const target = targetOf(href);
      return target === undefined ? text : html`<a href="${target}">${{ html: text }}</a>`.html;
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
function targetOf(href: string): string | undefined {
  if (/^(https:\/\/|\/|#)/.test(href)) return href;
  const example = GUIDE_EXAMPLES.find((path) => href === `../../examples/${path}`);
  if (example !== undefined) return guideExamplePath(example);
  const [, name = '', anchor = ''] = /^([a-z-]+)\.md(#.*)?$/.exec(href) ?? [];
  return GUIDES.some((guide) => guide === name) ? `${guidePath(name)}${anchor}` : undefined;
}
