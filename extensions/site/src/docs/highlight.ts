// Colours in code: an element with the class of a colour around each keyword, string or name.

import { withoutAltering } from '@partner-loyalty/runtime/input.ts';
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import hljs from 'highlight.js/lib/common';

/** The class of each scope of highlight.js that has a colour. */
const CLASSES: Readonly<Record<string, string>> = {
  ...{ keyword: 'k', built_in: 'k', string: 's', comment: 'c' },
  ...{ attr: 'n', literal: 'n', number: 'n', symbol: 'n', variable: 'n' },
};

/** The code in its language, by a name that Markdown or a tab has; as it is if that is unknown. */
export function highlighted(code: string, language: string): Html {
  const name = language === 'curl' ? 'bash' : language;
  if (hljs.getLanguage(name) === undefined) return html`${code}`;
  const { value } = hljs.highlight(withoutAltering(code), { language: name });
  // What highlight.js escapes has no tag in it.
  const coloured = value.replace(/<span class="hljs-([a-z_]+)(?: [^"]*)?">/g, (_, scope: string) =>
    scope in CLASSES ? `<span class="${CLASSES[scope]}">` : '<span>',
  );
  return { html: coloured.replaceAll('&#x27;', '&#39;') };
}
