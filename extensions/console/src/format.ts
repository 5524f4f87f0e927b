// How the console writes numbers and times. All times are UTC.
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';

const NUMBER = new Intl.NumberFormat('en');
const SHORT = new Intl.NumberFormat('en', { notation: 'compact' });
const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumSignificantDigits: 2 });
const TIME = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', timeZone: 'UTC' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
});

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
  return TIME.format(new Date(`${hour}:00Z`)).slice(0, -3);
}

export function timeTag(time: number): Html {
  return html`<time datetime="${new Date(time).toISOString()}">${TIME.format(time)}</time>`;
}

/** `2026-11-25 17:03 UTC`. */
export function timeText(at: Date | number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
