// Picks the media type of a response from the Accept header (GraphQL over HTTP, section 6.1).
import Negotiator from 'negotiator';

export const JSON_TYPE = 'application/json; charset=utf-8';
const GRAPHQL_TYPE = 'application/graphql-response+json; charset=utf-8';

/** GraphQL's own media type if the caller prefers it; otherwise JSON, even if not accepted. */
export function mediaTypeFor(accept: string | undefined): string {
  if (accept === undefined || !accept.includes('graphql-response')) return JSON_TYPE;
  const preferred = new Negotiator({ headers: { accept } }).mediaType([
    'application/graphql-response+json',
    'application/json',
  ]);
  return preferred === 'application/graphql-response+json' ? GRAPHQL_TYPE : JSON_TYPE;
}
