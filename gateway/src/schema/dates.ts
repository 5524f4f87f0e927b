// When something was deprecated and until when it stays: a sentence in the reason of @deprecated.
import type { ResponseHeaders } from '@partner-loyalty/runtime/http/headers.ts';

/** Both in milliseconds since 1970, at midnight UTC. */
export type DeprecationDates = { since: number; until: number };

/** How long callers can use what is deprecated: 6 months in beta, 12 after it. */
export const MONTHS_KEPT = 6;

const SENTENCE = /Deprecated since (\d{4}-\d{2}-\d{2}), kept until (\d{4}-\d{2}-\d{2})\./;
const ENDS_A_SENTENCE = /[.!?]$/;

/** The dates in a reason; undefined if it has none, or if they are not two days in order. */
export function datesIn(reason: string): DeprecationDates | undefined {
  const [, first = '', second = ''] = SENTENCE.exec(reason) ?? [];
  const since = midnightOf(first);
  const until = midnightOf(second);
  if (since === undefined || until === undefined || until <= since) return undefined;
  return { since, until };
}

/** The reason with the sentence at its end. */
export function withDates(reason: string, { since, until }: DeprecationDates): string {
  const text = reason.trim();
  const ended = text === '' || ENDS_A_SENTENCE.test(text) ? text : `${text}.`;
  return `${ended} Deprecated since ${dayOf(since)}, kept until ${dayOf(until)}.`.trim();
}

/** The dates of what is deprecated at an instant and kept no longer than promised. */
export function datesFrom(instant: Date): DeprecationDates {
  const since = new Date(instant).setUTCHours(0, 0, 0, 0);
  return { since, until: monthsAfter(since, MONTHS_KEPT) };
}

/** The same day of a later month, or the last one of that month if it is shorter. */
export function monthsAfter(midnight: number, months: number): number {
  const day = new Date(midnight);
  const dayOfMonth = day.getUTCDate();
  day.setUTCMonth(day.getUTCMonth() + months);
  if (day.getUTCDate() !== dayOfMonth) day.setUTCDate(0);
  return day.getTime();
}

/** `2026-11-22`. */
export function dayOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}

function midnightOf(day: string): number | undefined {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(midnight) || dayOf(midnight) !== day ? undefined : midnight;
}

/** The path of the changelog, relative to the base address of the service. */
const CHANGELOG_PATH = '/docs#changelog';

export type AddDeprecation = (headers: ResponseHeaders, dates: DeprecationDates) => void;

/** `ownUrl` is the base address of the service. */
export function createDeprecationHeaders(ownUrl: string): AddDeprecation {
  const target = `<${ownUrl}${CHANGELOG_PATH}>`;
  const link = `${target}; rel="deprecation"; type="text/html", ${target}; rel="sunset"; type="text/html"`;
  return (headers, { since, until }) => {
    headers.deprecation = `@${since / 1_000}`;
    headers.sunset = new Date(until).toUTCString();
    headers.link = link;
  };
}
