// Parts that sections of the console are made of.
import { type Html, html } from '../pages/html.ts';
import { form } from '../sign-in/cards.ts';

/** A time in milliseconds since 1970, for readers: 2026-11-25 09:30 UTC */
export function utc(at: number): Html {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** A word about the state of something; colour adds to it. */
export function badge(kind: 'good' | 'bad' | 'idle', text: string): Html {
  return html`<span class="state ${kind}">${text}</span>`;
}

/** Names and values. */
export function facts(rows: [name: string, value: string | Html][]): Html {
  const items = rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`);
  return html`<dl class="facts">${items}</dl>`;
}

/** A form with one button. The fields are sent with it, unseen. */
export function action(
  path: string,
  [name, text, kind = 'plain']: [name: string, text: string, kind?: 'plain' | 'danger' | 'main'],
  fields: Readonly<Record<string, string>>,
  content: Html = html``,
): Html {
  const hidden = Object.entries(fields).map(
    ([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`,
  );
  return form(
    path,
    html`${hidden}${content}<button name="action" value="${name}" class="${kind}">${text}</button>`,
  );
}

/** What opens without a script. */
export function disclosure(summary: string, content: Html, isOpen = false): Html {
  return html`<details${isOpen ? html` open` : ''}><summary>${summary}</summary>
<div class="inside">${content}</div></details>`;
}

/** Where there is nothing yet: what it would be, and what to do. */
export function empty(title: string, text: string | Html): Html {
  return html`<div class="empty"><p><strong>${title}</strong></p><p>${text}</p></div>`;
}

/** What the form has in a field, without space around it; an empty text if it has no such field. */
export function field(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim();
}
