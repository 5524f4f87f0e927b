// What the gateway and a subgraph that runs by itself say to each other: several operations in one request, an answer a line.

import { isErrorCode } from '../errors.ts';
import { isJsonObject } from '../json.ts';
import type { Scope, SubgraphError, SubgraphReply, SubgraphRequest } from './subgraph.ts';

/** One request asks for at most this much; a single operation may be longer by itself. */
export const WIRE = {
  path: '/graphql',
  readyPath: '/ready',
  maxOperations: 100,
  maxScopesCharacters: 6_000,
  maxBodyCharacters: 300_000,
  maxBodyBytes: 4 * 1024 * 1024,
} as const;

/** An operation as it travels: its scope stands in a header of the request, at this place of the list. */
type Operation = Pick<SubgraphRequest, 'query' | 'variables' | 'operationName' | 'requestId'> & {
  scope: number;
};

/** Cuts requests into groups that fit into one HTTP request each, with the scopes as ASCII JSON and the operations as JSON. */
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

/** The requests of a group; undefined where the texts are anything else. */
export function decodeRequests(scopesText: string, body: string): SubgraphRequest[] | undefined {
  const scopes = parsed(scopesText);
  const operations = parsed(body);
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

/** The line that answers the operation at this place. */
export function encodeReply(place: number, { data, errors }: SubgraphReply): string {
  return `${JSON.stringify({ i: place, data, errors })}\n`;
}

/** The answer of a line and its place below `count`; undefined where the line is anything else. */
export function decodeReply(
  line: string,
  count: number,
): { place: number; reply: SubgraphReply } | undefined {
  const value = parsed(line);
  if (!isJsonObject(value)) return undefined;
  const { i, data, errors } = value;
  if (typeof i !== 'number' || !Number.isInteger(i) || i < 0 || i >= count) return undefined;
  if (data !== undefined && data !== null && !isJsonObject(data)) return undefined;
  if (errors === undefined) return data === undefined ? undefined : { place: i, reply: { data } };
  return Array.isArray(errors) && errors.every(isSubgraphError)
    ? { place: i, reply: { data, errors } }
    : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || isText(value);
}

function isScope(value: unknown): value is Scope {
  if (!isJsonObject(value)) return false;
  if (value.kind === 'partner') return isText(value.partnerId);
  return (
    value.kind === 'service' ||
    (value.kind === 'member' && isText(value.memberId) && isTextOrAbsent(value.partnerId))
  );
}

function isOperation(value: unknown): value is Operation {
  if (!isJsonObject(value)) return false;
  const { query, variables, operationName, requestId, scope } = value;
  return (
    isText(query) &&
    (variables === undefined || isJsonObject(variables)) &&
    isTextOrAbsent(operationName) &&
    isText(requestId) &&
    Number.isInteger(scope)
  );
}

function isSubgraphError(value: unknown): value is SubgraphError {
  return (
    isJsonObject(value) &&
    isText(value.message) &&
    isJsonObject(value.extensions) &&
    isErrorCode(value.extensions.code)
  );
}

/** Header values are ASCII; ids need not be. */
function ascii(text: string): string {
  return text.replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
