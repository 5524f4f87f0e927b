// How the console writes numbers and times.
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { timeText } from '@partner-loyalty/runtime/time.ts';

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
