// The headers of a response to an operation that uses something deprecated (RFC 9745, RFC 8594).
import type { ResponseHeaders } from '@partner-loyalty/runtime/http/headers.ts';
import type { DeprecationDates } from './dates.ts';

/** The path of the changelog, relative to the base address of the service. */
export const CHANGELOG_PATH = '/docs#changelog';

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
