// Reads GraphQL requests, from JSON bodies or, of a GET, from the query string of the URL.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { isJsonObject, utf8Text } from '@partner-loyalty/runtime/input.ts';
import { hasLongName } from '@partner-loyalty/runtime/transport/parts.ts';

/** In bytes (docs/callers/requests.md, HTTP). */
export const BODY_LIMIT = 64 * 1024;

export type GraphqlBody = {
  query: string;
  variables: Record<string, unknown>;
  operationName?: string;
  /** The request is one by GET, which changes nothing (GraphQL over HTTP, section 5.3). */
  isRead?: boolean;
};

/** A JSON body, not parsed yet. Throws UNSUPPORTED_MEDIA_TYPE, and rejects as `body` does. */
export function readJsonBody(request: HttpRequest): Promise<Buffer> {
  requireJson(request);
  return request.body(BODY_LIMIT);
}

/** About the memory that a body and its document take, at most. Measured: `[[…]]`, `{ a a … }`. */
export function bytesParsed(length: number): number {
  return 32 * length + 128 * Math.min(length, 2_048);
}

/** The members of a body (GraphQL over HTTP, section 5.4). Throws BAD_REQUEST. */
export function parseGraphqlBody(body: Buffer): GraphqlBody {
  return validate(parseJson(textOf(body)));
}

/** The parameters of a request by GET (GraphQL over HTTP, section 5.3). Throws BAD_REQUEST. */
export function parseGraphqlSearch(search: string): GraphqlBody {
  const parameters = new URLSearchParams(search);
  // An empty one, as of a form that was not filled in, is as if it were left out.
  const given = (name: string) => parameters.get(name) || undefined;
  const json = (name: string) => {
    const text = given(name);
    return text === undefined ? undefined : parseJson(text, `"${name}" is not JSON`);
  };
  return {
    ...validate({
      query: parameters.get('query'),
      variables: json('variables'),
      operationName: given('operationName'),
      extensions: json('extensions'),
    }),
    isRead: true,
  };
}

/**
 * The text of JSON without a byte order mark. Throws BAD_REQUEST if the bytes are not UTF-8, or a
 * name has over 16,383 of them.
 */
export function textOf(bytes: Buffer): string {
  if (hasLongName(bytes)) fail('BAD_REQUEST', 'the body has too long a name');
  return utf8Text(bytes) ?? fail('BAD_REQUEST', 'the body is not UTF-8');
}

/** Throws UNSUPPORTED_MEDIA_TYPE if the body is not JSON. */
export function requireJson({ headers }: HttpRequest): void {
  const type = headers['content-type'];
  if (type !== 'application/json' && !isJsonType(type)) fail('UNSUPPORTED_MEDIA_TYPE');
}

/** Whether the type is application/json without parameters, or with only charset UTF-8. */
function isJsonType(type: string | undefined): boolean {
  return (
    type !== undefined && /^application\/json\s*(;\s*(charset\s*=\s*"?utf-?8"?\s*)?)*$/i.test(type)
  );
}

/** Throws BAD_REQUEST. */
export function parseJson(text: string, problem = 'the body is not JSON'): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fail('BAD_REQUEST', problem);
  }
}

// By hand for speed (docs/decisions/0017).
function validate(body: unknown): GraphqlBody {
  if (!isJsonObject(body)) return fail('BAD_REQUEST', 'the body must be one JSON object');
  const { query, variables, operationName, extensions } = body;
  if (isAbsent(query) && isJsonObject(extensions) && !isAbsent(extensions.persistedQuery))
    fail('PERSISTED_QUERY_NOT_SUPPORTED');
  if (typeof query !== 'string') fail('BAD_REQUEST', 'the request needs a string "query"');
  if (!isAbsent(variables) && !isJsonObject(variables))
    fail('BAD_REQUEST', '"variables" must be an object');
  if (!isAbsent(operationName) && typeof operationName !== 'string')
    fail('BAD_REQUEST', '"operationName" must be a string');
  if (!isAbsent(extensions) && !isJsonObject(extensions))
    fail('BAD_REQUEST', '"extensions" must be an object');
  return { query, variables: variables ?? {}, ...(!isAbsent(operationName) && { operationName }) };
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}
