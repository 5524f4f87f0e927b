// How the console writes numbers and times. All times are UTC.
import { type Html, html } from '../pages/html.ts';

const NUMBER = new Intl.NumberFormat('en');
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact' });
const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumSignificantDigits: 2 });
const TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
});

export const shownNumber = (value: number): string => NUMBER.format(value);
/** Thousands as `12K`. */
export const shownShort = (value: number): string => COMPACT.format(value);
/** `part` is 1 for the whole. */
export const shownPercent = (part: number): string => PERCENT.format(part);

export function shownMs(durationMs: number): string {
  if (durationMs >= 1_000) return `${(durationMs / 1_000).toPrecision(3)} s`;
  return `${Number(durationMs.toPrecision(durationMs < 1 ? 1 : 2))} ms`;
}

/** An hour such as `2031-05-17T10`. */
export function shownHour(hour: string): string {
  return TIME.format(new Date(`${hour}:00Z`)).replace(/:00:00$/, ':00');
}

export function timeTag(time: number): Html {
  const iso = new Date(time).toISOString();
  return html`<time datetime="${iso}">${TIME.format(time)}</time>`;
}
