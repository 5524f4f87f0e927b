// Request templates: raw HTTP text with a placeholder for a member's number.
import { LOOKUP_QUERY, memberNumber, PLACEHOLDER } from './population.ts';

/** A server under load. */
export type Target = {
  url: string;
  /** The headers that each API key is sent in. */
  keys: Record<string, string>[];
  /** How many members the server knows. */
  members: number;
};

const EMAIL = `member${PLACEHOLDER}@bench.example`;

/** One request template for each key of the target. */
export function requestTemplates(
  target: Target,
  query = LOOKUP_QUERY,
  variables: Record<string, unknown> = { email: EMAIL },
): string[] {
  const body = JSON.stringify({ query, variables });
  return target.keys.map((key) => rawRequest(target.url, key, body));
}

/** A request as raw HTTP text. */
export function rawRequest(url: string, key: Record<string, string>, body: string): string {
  const { host, pathname } = new URL(url);
  const headers = {
    host,
    'content-type': 'application/json',
    'content-length': `${body.length}`,
    ...key,
  };
  return `POST ${pathname} HTTP/1.1\r\n${headerLines(headers)}\r\n${body}`;
}

/** Header fields as they stand in an HTTP/1.1 message. */
export function headerLines(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

/** The template with the number of a random member in each placeholder. */
export function aboutRandomMembers(template: string, members: number): string {
  return template.replaceAll(PLACEHOLDER, () => memberNumber(Math.floor(Math.random() * members)));
}
