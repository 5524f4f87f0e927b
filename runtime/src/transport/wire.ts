// The requests to a subgraph and the lines of its responses (docs/teams/protocol.md).
import { isJsonObject } from '../input.ts';
import { BATCH, decodeCaller, decodeJsonCaller, encodeCaller, jsonCallerOf } from './caller.ts';
import type { SubgraphRequest, SubgraphResponse } from './types.ts';

/** The limits of one request. A single operation may be longer than `maxBodyCharacters`. */
export const WIRE = {
  /** The path of a subgraph whose URL has none. */
  path: '/graphql',
  maxOperations: 100,
  maxBodyCharacters: 300_000,
  maxBodyBytes: 4 * 1024 * 1024,
  /** The maximum for the response to one operation. */
  maxAnswerBytes: 1024 * 1024,
  /** The maximum for the responses to all operations of a request. */
  maxResponseBytes: 4 * 1024 * 1024,
} as const;

/** The media types of GraphQL over HTTP, and of the lines in its draft for batching. */
export const MEDIA_TYPES = {
  json: 'application/json',
  response: 'application/graphql-response+json',
  lines: 'application/graphql-response+jsonl',
} as const;

/** A request to a subgraph with `count` operations, and the values of its headers. */
export type EncodedRequest = {
  count: number;
  caller: string;
  requestId: string;
  body: string;
};

/** One operation as a JSON object. Throws if its caller cannot be written in a header. */
export function encodeOperation(request: SubgraphRequest): EncodedRequest {
  const { query, variables, operationName, forwarded, requestId, caller } = request;
  const extensions = sandboxOf(request);
  const body = JSON.stringify({ query, variables, operationName, forwarded, extensions });
  return { count: 1, caller: encodeCaller(caller), requestId, body };
}

/**
 * JSON arrays of operations, in order and in as few requests as possible. A request has the ID of
 * its first operation.
 */
export function encodeBatches(requests: readonly SubgraphRequest[]): EncodedRequest[] {
  const batches: EncodedRequest[] = [];
  let operations: string[] = [];
  let size = 0;
  let first = '';
  for (const request of requests) {
    const { query, variables, operationName, requestId, caller, trace } = request;
    const scope = jsonCallerOf(caller);
    // Operations of several traces come together: each that is recorded says which is its own.
    const traced = trace?.isRecorded ? trace.headers() : undefined;
    const extensions = { scope, requestId, ...traced, ...sandboxOf(request) };
    const operation = JSON.stringify({ query, variables, operationName, extensions });
    const isFull =
      operations.length >= WIRE.maxOperations || size + operation.length > WIRE.maxBodyCharacters;
    if (isFull && operations.length > 0) {
      batches.push(encodeBatch(operations, first));
      operations = [];
      size = 0;
    }
    if (operations.length === 0) first = requestId;
    operations.push(operation);
    size += operation.length;
  }
  if (operations.length > 0) batches.push(encodeBatch(operations, first));
  return batches;
}

function sandboxOf({ sandboxNow }: SubgraphRequest): { sandboxNow: string } | undefined {
  return sandboxNow === undefined ? undefined : { sandboxNow: new Date(sandboxNow).toISOString() };
}

function encodeBatch(operations: readonly string[], requestId: string): EncodedRequest {
  return { count: operations.length, caller: BATCH, requestId, body: `[${operations.join(',')}]` };
}

/** The content of a request: an operation, or a batch of them. */
type Asked = { operation: SubgraphRequest } | { batch: SubgraphRequest[] };

/** Reads a request, or returns undefined if it is malformed. `caller` is the text of the header. */
export function decodeRequest(caller: string, requestId: string, body: string): Asked | undefined {
  const value = parseJson(body);
  if (caller !== BATCH) {
    const own = decodeCaller(caller);
    const operation = own && decodeOperation(value, own, requestId);
    return operation && { operation };
  }
  if (!Array.isArray(value) || value.length === 0 || value.length > WIRE.maxOperations)
    return undefined;
  const batch: SubgraphRequest[] = [];
  for (const each of value) {
    const { extensions } = isJsonObject(each) ? each : {};
    if (!isJsonObject(extensions) || typeof extensions.requestId !== 'string') return undefined;
    const own = decodeJsonCaller(extensions.scope);
    const operation = own && decodeOperation(each, own, extensions.requestId);
    if (operation === undefined) return undefined;
    const { traceparent, tracestate } = extensions;
    if (typeof traceparent === 'string')
      operation.received = {
        traceparent,
        ...(typeof tracestate === 'string' && { tracestate }),
      };
    batch.push(operation);
  }
  return { batch };
}

function decodeOperation(
  value: unknown,
  caller: SubgraphRequest['caller'],
  requestId: string,
): SubgraphRequest | undefined {
  if (!isJsonObject(value)) return undefined;
  const { query } = value;
  // GraphQL over HTTP lets clients send null instead of leaving a parameter out.
  const variables = value.variables ?? undefined;
  const operationName = value.operationName ?? undefined;
  if (typeof query !== 'string') return undefined;
  if (variables !== undefined && !isJsonObject(variables)) return undefined;
  if (operationName !== undefined && typeof operationName !== 'string') return undefined;
  const sandboxNow = isJsonObject(value.extensions) ? value.extensions.sandboxNow : undefined;
  // Cast: only a gateway signs it.
  const forwarded = value.forwarded as SubgraphRequest['forwarded'];
  const operation = {
    ...{ query, variables, operationName, caller, requestId },
    ...(forwarded && { forwarded }),
  };
  return typeof sandboxNow === 'string'
    ? { ...operation, sandboxNow: Date.parse(sandboxNow) }
    : operation;
}

/** The line with the response to the operation at `place`. */
export function encodeLine(place: number, { data, errors }: SubgraphResponse): string {
  return `${JSON.stringify({ requestIndex: place, data, errors })}\n`;
}

/** The response in a line, with its place below `count`, or undefined if it is malformed. */
export function decodeLine(
  line: string,
  count: number,
): { place: number; response: Record<string, unknown> } | undefined {
  const response = parseJson(line);
  if (!isJsonObject(response)) return undefined;
  const place = response.requestIndex;
  return typeof place === 'number' && Number.isInteger(place) && place >= 0 && place < count
    ? { place, response }
    : undefined;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
