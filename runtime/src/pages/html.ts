// A template tag for HTML that escapes every value.
import { withoutAltering } from '../input.ts';

/** Text that is HTML already. */
export type Html = { html: string };

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Escapes strings and numbers, and leaves out characters that alter the text around them; inserts
 * Html, and lists of it, unchanged.
 */
export function html(
  parts: TemplateStringsArray,
  ...values: (string | number | Html | Html[])[]
): Html {
  return {
    html: parts.reduce((text, part, index) => text + render(values[index - 1] ?? '') + part),
  };
}

/** A sentence, with `<bdi>` around the names that `isolated` has marked in it. */
export function sentence(text: string): Html {
  const parts = text.split(/\u2068([^\u2068\u2069]*)\u2069/);
  return html`${parts.map((part, index) => (index % 2 === 0 ? html`${part}` : html`<bdi>${part}</bdi>`))}`;
}

function render(value: string | number | Html | Html[]): string {
  if (Array.isArray(value)) return value.map(({ html }) => html).join('');
  return typeof value === 'object'
    ? value.html
    : withoutAltering(String(value)).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

/** A block of code that a keyboard can scroll. `name` is its label for screen readers. */
export function codeBlock(name: string, code: string | Html): Html {
  return html`<pre tabindex="0" role="group" aria-label="${name}"><code>${code}</code></pre>`;
}
