// Text with the little Markdown that descriptions of schemas and the project's tables use.
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';

/** The longest text that is shown: a team writes as much as it likes, on pages of all. */
const MAX_TEXT = 4_000;

const shortened = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

/** Paragraphs. Everything but `code` stays text: descriptions come from other teams' schemas. */
export function paragraphs(text: string): Html[] {
  return shortened(text)
    .split(/\n\s*\n/)
    .flatMap((paragraph) => {
      const trimmed = paragraph.trim();
      return trimmed === '' ? [] : [html`<p>${inline(trimmed)}</p>`];
    });
}

/** `code` as code, and links as their text, because they lead to files of the project. */
export function inline(text: string): Html[] {
  const pieces = shortened(text)
    .replace(/\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .split('`');
  return pieces.map((piece, index) => {
    const isCode = index % 2 === 1 && index < pieces.length - 1;
    if (isCode) return html`<code>${piece}</code>`;
    return html`${index % 2 === 1 ? '`' : ''}${piece}`;
  });
}
