// Parts that pages of the console are made of, and how they write numbers and times.
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { timeText } from '@partner-loyalty/runtime/time.ts';

/** A word about the state of something; the style knows it in lower case. */
export function stateText(state: string): Html {
  return html`<span class="state ${state}">${state}</span>`;
}

/** Names and values. */
export function facts(rows: readonly (readonly [name: string, value: string | Html])[]): Html {
  const items = rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`);
  return html`<dl class="facts">${items}</dl>`;
}

/** Where there is nothing yet: what it would be, and what to do. */
export function empty(title: string, text: string | Html): Html {
  return html`<div class="empty"><p><strong>${title}</strong></p><p>${text}</p></div>`;
}

/** Things of a kind, each in a row, or what there is in place of them. */
export function rowList(items: Html[], none: Html = html``): Html {
  return items.length === 0 ? none : html`<ul class="rows">${items}</ul>`;
}

/** A table that scrolls within the page. The columns of `numbers` are aligned to the right. */
export function table(
  [id, caption]: readonly [id: string, caption: string],
  columns: readonly string[],
  rows: Html[],
  kind: string,
  numbers: readonly string[] = [],
): Html {
  const heads = columns.map(
    (name) => html`<th scope="col" class="${numbers.includes(name) ? 'number' : ''}">${name}</th>`,
  );
  return html`<div class="scroll" role="region" tabindex="0" aria-labelledby="${id}">
<table class="${kind}"><caption id="${id}">${caption}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

const NUMBER = new Intl.NumberFormat('en');
const SHORT = new Intl.NumberFormat('en', { notation: 'compact' });
const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumSignificantDigits: 2 });

export const shownNumber = (value: number): string => NUMBER.format(value);
/** Thousands as `12K`. */
export const shownShort = (value: number): string => SHORT.format(value);
/** `part` is 1 for the whole. */
export const shownPercent = (part: number): string => PERCENT.format(part);

export function shownMs(durationMs: number): string {
  if (durationMs >= 1_000) return `${(durationMs / 1_000).toPrecision(3)} s`;
  return `${Number(durationMs.toPrecision(durationMs < 1 ? 1 : 2))} ms`;
}

/** An hour such as `2031-05-17T10`. */
export function shownHour(hour: string): string {
  return timeText(new Date(`${hour}:00Z`));
}

export function timeTag(time: number): Html {
  return html`<time datetime="${new Date(time).toISOString()}">${timeText(time, true)}</time>`;
}
