// A template tag for HTML that escapes every value.

/** Text that is HTML already. */
export type Html = { html: string };

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes strings and numbers; inserts Html, and lists of it, unchanged. */
export function html(
  parts: TemplateStringsArray,
  ...values: (string | number | Html | Html[])[]
): Html {
  return {
    html: parts.reduce((text, part, index) => text + render(values[index - 1] ?? '') + part),
  };
}

function render(value: string | number | Html | Html[]): string {
  if (Array.isArray(value)) return value.map(({ html }) => html).join('');
  return typeof value === 'object'
    ? value.html
    : String(value).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
