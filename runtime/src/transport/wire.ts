// The protocol between gateway and subgraph: operations in one request, a line for each answer.
import { isErrorCode } from '../errors.ts';
import { isJsonObject } from '../json.ts';
import type { Scope, SubgraphError, SubgraphReply, SubgraphRequest } from '../subgraph/types.ts';

/** The limits of one request. A single operation may be longer than `maxBodyCharacters`. */
export const WIRE = {
  path: '/graphql',
  readyPath: '/ready',
  maxOperations: 100,
  maxScopesCharacters: 6_000,
  maxBodyCharacters: 300_000,
  maxBodyBytes: 4 * 1024 * 1024,
} as const;

/** An operation as it travels. `scope` is an index into the list in the scopes header. */
type Operation = Pick<SubgraphRequest, 'query' | 'variables' | 'operationName' | 'requestId'> & {
  scope: number;
};

/** Splits operations into HTTP requests, each with scopes in ASCII JSON and operations in JSON. */
export function encodeRequests(
  requests: readonly SubgraphRequest[],
): { count: number; scopes: string; body: string }[] {
  const groups: { count: number; scopes: string; body: string }[] = [];
  let scopes = new Map<string, number>();
  let [operations, size, scopesSize] = [[] as string[], 0, 0];
  const close = () => {
    if (operations.length > 0)
      groups.push({
        count: operations.length,
        scopes: `[${[...scopes.keys()].join(',')}]`,
        body: `[${operations.join(',')}]`,
      });
    scopes = new Map();
    [operations, size, scopesSize] = [[], 0, 0];
  };
  for (const { query, variables, operationName, requestId, scope } of requests) {
    const scopeText = ascii(JSON.stringify(scope));
    const rest = JSON.stringify({ query, variables, operationName, requestId } satisfies Omit<
      Operation,
      'scope'
    >);
    const scopeSize = scopes.has(scopeText) ? 0 : scopeText.length + 1;
    const full =
      operations.length >= WIRE.maxOperations ||
      size + rest.length > WIRE.maxBodyCharacters ||
      scopesSize + scopeSize > WIRE.maxScopesCharacters;
    if (full) close();
    const place = scopes.get(scopeText) ?? scopes.size;
    if (place === scopes.size) {
      scopes.set(scopeText, place);
      scopesSize += scopeText.length + 1;
    }
    operations.push(`${rest.slice(0, -1)},"scope":${place}}`);
    size += rest.length;
  }
  close();
  return groups;
}

/** The operations of an HTTP request, or undefined if it is malformed. */
export function decodeRequests(scopesText: string, body: string): SubgraphRequest[] | undefined {
  const scopes = parseJson(scopesText);
  const operations = parseJson(body);
  if (
    !Array.isArray(scopes) ||
    !Array.isArray(operations) ||
    operations.length > WIRE.maxOperations
  )
    return undefined;
  if (!scopes.every(isScope) || !operations.every(isOperation)) return undefined;
  const requests: SubgraphRequest[] = [];
  for (const { query, variables, operationName, requestId, scope: place } of operations) {
    const scope = scopes[place];
    if (scope === undefined) return undefined;
    requests.push({ query, variables, operationName, requestId, scope });
  }
  return requests;
}

/** The line that answers the operation at `place`. */
export function encodeReply(place: number, { data, errors }: SubgraphReply): string {
  return `${JSON.stringify({ i: place, data, errors })}\n`;
}

/** The answer in a line, with its place below `count`, or undefined if the line is malformed. */
export function decodeReply(
  line: string,
  count: number,
): { place: number; reply: SubgraphReply } | undefined {
  const value = parseJson(line);
  if (!isJsonObject(value)) return undefined;
  const { i, data, errors } = value;
  if (typeof i !== 'number' || !Number.isInteger(i) || i < 0 || i >= count) return undefined;
  if (data !== undefined && data !== null && !isJsonObject(data)) return undefined;
  if (errors === undefined) return data === undefined ? undefined : { place: i, reply: { data } };
  return Array.isArray(errors) && errors.every(isSubgraphError)
    ? { place: i, reply: { data, errors } }
    : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isStringOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || isString(value);
}

function isScope(value: unknown): value is Scope {
  if (!isJsonObject(value)) return false;
  if (value.kind === 'partner') return isString(value.partnerId);
  return (
    value.kind === 'service' ||
    (value.kind === 'member' && isString(value.memberId) && isStringOrAbsent(value.partnerId))
  );
}

function isOperation(value: unknown): value is Operation {
  if (!isJsonObject(value)) return false;
  const { query, variables, operationName, requestId, scope } = value;
  return (
    isString(query) &&
    (variables === undefined || isJsonObject(variables)) &&
    isStringOrAbsent(operationName) &&
    isString(requestId) &&
    Number.isInteger(scope)
  );
}

function isSubgraphError(value: unknown): value is SubgraphError {
  return (
    isJsonObject(value) &&
    isString(value.message) &&
    isJsonObject(value.extensions) &&
    isErrorCode(value.extensions.code)
  );
}

/** Escapes whatever is not ASCII, since IDs may contain what a header value must not. */
function ascii(text: string): string {
  return text.replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
