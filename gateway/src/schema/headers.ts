// The headers of a response to an operation that uses something deprecated (RFC 9745, RFC 8594).
import { HEADERS } from '@partner-loyalty/runtime/http/headers.ts';
import type { DeprecationDates } from './dates.ts';

/** The path of the changelog, relative to the base address of the service. */
export const CHANGELOG_PATH = '/docs#changelog';

export type AddDeprecation = (headers: Record<string, string>, dates: DeprecationDates) => void;

/** `ownUrl` is the base address of the service. */
export function createDeprecationHeaders(ownUrl: string): AddDeprecation {
  const target = `<${ownUrl}${CHANGELOG_PATH}>`;
  const link = `${target}; rel="deprecation"; type="text/html", ${target}; rel="sunset"; type="text/html"`;
  return (headers, { since, until }) => {
    headers[HEADERS.deprecation.name] = `@${since / 1_000}`;
    headers[HEADERS.sunset.name] = new Date(until).toUTCString();
    headers[HEADERS.link.name] = link;
  };
}
