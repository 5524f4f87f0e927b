// Reads a JSON-RPC message within bounds, before the protocol's library gets it.
import { isJsonObject } from '@partner-loyalty/runtime/input.ts';
import { RpcError } from './errors.ts';

export type RpcMessage = {
  jsonrpc: '2.0';
  method: string;
  /** Absent in a notification. */
  id?: string | number;
  params?: Record<string, unknown>;
};

/** In characters: an ID is kept while the request runs, and is in the response. */
const MAX_NAME = 128;
/** Levels of objects and arrays: messages of the protocol have up to 6. */
const MAX_DEPTH = 32;
/** In `params`: messages of the protocol have dozens, and its schemas take 20 µs for a bad one. */
const MAX_VALUES = 500;

/** A request or a notification (JSON-RPC 2.0, section 4). Throws BAD_REQUEST for anything else. */
export function parseMessage(text: string): RpcMessage {
  const message = parseJson(text);
  if (Array.isArray(message)) throw invalid('a batch of messages is not supported');
  if (!isJsonObject(message)) throw invalid('the body must be one JSON object');
  const { jsonrpc, method, id, params } = message;
  if (jsonrpc !== '2.0') throw invalid('"jsonrpc" must be "2.0"');
  if (typeof method !== 'string' || method.length > MAX_NAME)
    throw invalid(`"method" must be a string of at most ${MAX_NAME} characters`);
  if (params !== undefined && !isJsonObject(params)) throw invalid('"params" must be an object');
  if (valuesLeft(MAX_DEPTH, MAX_VALUES, params) < 0)
    throw invalid(`"params" has over ${MAX_VALUES} values, or over ${MAX_DEPTH} levels`);
  const read = { jsonrpc, method, ...(params && { params }) } as const;
  if (id === undefined) return read;
  if (!isId(id))
    throw invalid(`"id" must be an integer or a string of at most ${MAX_NAME} characters`);
  return { ...read, id };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RpcError('BAD_REQUEST', -32700, 'the body is not JSON');
  }
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' ? id.length <= MAX_NAME : Number.isSafeInteger(id);
}

/** How many more values are allowed after these; negative if they are too many or too deep. */
function valuesLeft(levels: number, most: number, value: unknown): number {
  if (typeof value !== 'object' || value === null) return most - 1;
  if (levels === 0) return -1;
  let left = most - 1;
  for (const one of Object.values(value)) {
    if (left < 0) return left;
    left = valuesLeft(levels - 1, left, one);
  }
  return left;
}

function invalid(message: string): RpcError {
  return new RpcError('BAD_REQUEST', -32600, message);
}
