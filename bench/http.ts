// Requests as raw HTTP text with room for a member's number, which is what every load generator sends.
import { HOT_QUERY, NUMBER } from './population.ts';

/** Something to send load to: its address, the headers of each key, and how many members can be asked for. */
export type Target = { url: string; keys: Record<string, string>[]; members: number };

/** The request texts of a target, one for each of its keys, with NUMBER in each place where a member's number goes. */
export function requestTexts(
  target: Target,
  query = HOT_QUERY,
  variables: Record<string, string> = { email: `member${NUMBER}@bench.example` },
): string[] {
  const { host, pathname } = new URL(target.url);
  const body = JSON.stringify({ query, variables });
  return target.keys.map((headers) => {
    const lines = Object.entries({
      host,
      'content-type': 'application/json',
      'content-length': `${body.length}`,
      ...headers,
    });
    return `POST ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
  });
}
