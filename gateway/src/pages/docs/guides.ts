// The guides of docs/guides: their Markdown, and the same as HTML.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { codeBlock } from '../frame.ts';
import { html } from '../html.ts';
import { GUIDES, guidePath } from './paths.ts';

const FOLDER = join(import.meta.dirname, '../../../../docs/guides');

/** The Markdown of a guide. Throws if it has no file. */
export function guideText(name: string): string {
  return readFileSync(join(FOLDER, `${name}.md`), 'utf8');
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

/** Undefined for other files of the project, which the service does not have. */
function targetOf(href: string): string | undefined {
  if (/^(https:\/\/|\/|#)/.test(href)) return href;
  const [, name = '', anchor = ''] = /^([a-z-]+)\.md(#.*)?$/.exec(href) ?? [];
  return GUIDES.some((guide) => guide === name) ? `${guidePath(name)}${anchor}` : undefined;
}
