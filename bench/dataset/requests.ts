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

/** The same for several look-ups in one document, aliased `a0`, `a1` and so on. */
export function aliasedTemplates(target: Target, count: number): string[] {
  const indexes = Array.from({ length: count }, (_, index) => index);
  const variables = indexes.map((index) => `$e${index}: String!`).join(' ');
  const fields = indexes.map(
    (index) =>
      `a${index}: memberByEmail(email: $e${index}) { memberId email firstName lastName tier points }`,
  );
  return requestTemplates(
    target,
    `query(${variables}) { ${fields.join(' ')} }`,
    Object.fromEntries(indexes.map((index) => [`e${index}`, EMAIL])),
  );
}

/** The same for so many look-ups in one list. */
export function listTemplates(target: Target, count: number): string[] {
  const query = `query($keys: [MemberKey!]!) { memberLookups(keys: $keys) { member { memberId email firstName lastName tier points } } }`;
  const keys = Array.from({ length: count }, () => ({ email: EMAIL }));
  return requestTemplates(target, query, { keys });
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
