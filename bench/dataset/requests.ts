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

/** One look-up for each key of the target. */
export function requestTemplates(target: Target, query = LOOKUP_QUERY): string[] {
  const body = JSON.stringify({ query, variables: { email: EMAIL } });
  return target.keys.map((key) => rawRequest(target.url, key, body));
}

/** Look-ups by each key in turn, each about a random member. */
export function randomLookUps(target: Target): () => string {
  const templates = requestTemplates(target);
  let sent = 0;
  return () => aboutRandomMembers(templates[sent++ % templates.length] ?? '', target.members);
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
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** The template with the number of a random member in each placeholder. */
export function aboutRandomMembers(template: string, members: number): string {
  return template.replaceAll(PLACEHOLDER, () => memberNumber(Math.floor(Math.random() * members)));
}
