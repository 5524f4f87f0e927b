// Parts that sections of the console are made of.
import { type Html, html } from '../pages/html.ts';

/** A word about the state of something; the style knows it in lower case. */
export function stateText(state: string): Html {
  return html`<span class="state ${state}">${state}</span>`;
}

/** Names and values. */
export function facts(rows: [name: string, value: string | Html][]): Html {
  const items = rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`);
  return html`<dl class="facts">${items}</dl>`;
}

/** Where there is nothing yet: what it would be, and what to do. */
export function empty(title: string, text: string): Html {
  return html`<div class="empty"><p><strong>${title}</strong></p><p>${text}</p></div>`;
}

/** What a form has in a field, without space around it; an empty text if it has no such field. */
export function field(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim();
}
