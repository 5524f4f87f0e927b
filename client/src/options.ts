// The options of a client, and the arguments and result of `request`.
import type { CallError } from './errors.ts';
import type { Limits } from './http/response.ts';
import type { CallOptions } from './surface/operation.ts';

export type ClientOptions = {
  /** The endpoint: `https://…/graphql`. */
  url: string;
  /** Used instead of the global one: for a proxy, a client certificate, traces. */
  fetch?: typeof fetch | undefined;
  /** For each attempt, until the last byte of its response. 10,000 by default. */
  timeoutMs?: number | undefined;
  /**
   * For a call with all its attempts and the waits between them. 75,000 by default: a window of the
   * budget, and a retry. A wait that would end later is not begun: the call rejects at once.
   */
  deadlineMs?: number | undefined;
  /** How often to try again. By default, as often as `deadlineMs` allows. */
  maxRetries?: number | undefined;
  /** Called for each response, of every attempt. What it throws ends the call. */
  onResponse?: ((event: ResponseEvent) => void) | undefined;
};

export type ResponseEvent = {
  status: number;
  headers: Headers;
  requestId: string;
  limits: Limits | undefined;
  /** 1 for the first. */
  attempt: number;
};

export type RequestOptions = CallOptions & {
  /** Needed if the document has more than one operation. */
  operationName?: string | undefined;
  /**
   * Whether the document may be sent again if it is unknown whether the first attempt arrived. By
   * default, if it has no `mutation`.
   */
  repeatable?: boolean | undefined;
};

/** A string, or a document of GraphQL Code Generator (`documentMode: 'string'`). */
export type Document<Data, Variables> = {
  toString(): string;
  __apiType?: (variables: Variables) => Data;
};

export type RequestResult<Data> = {
  /** Fields that failed are null. */
  data: Data;
  /** In the order of the document. */
  errors: CallError[];
  requestId: string;
  limits: Limits | undefined;
};

export type Timing = { timeoutMs: number; deadlineMs: number; maxRetries: number };

const DEFAULTS: Timing = {
  timeoutMs: 10_000,
  deadlineMs: 75_000,
  maxRetries: Number.POSITIVE_INFINITY,
};

/** The timing of a call: its own options, or else those of `base`. Throws for an invalid one. */
export function timingOf(options: Partial<Timing> | CallOptions, base = DEFAULTS): Timing {
  const read = (name: keyof Timing) => {
    const value = options[name] ?? base[name];
    if (typeof value !== 'number' || !(value >= 0))
      throw new TypeError(`${name} must be a number that is not negative`);
    return value;
  };
  return {
    timeoutMs: read('timeoutMs'),
    deadlineMs: read('deadlineMs'),
    maxRetries: read('maxRetries'),
  };
}

/** Throws a TypeError that does not repeat the URL, which may contain a password. */
export function endpointOf(url: string): string {
  const parsed = parseUrl(url);
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw new TypeError('url must be the endpoint: https://…/graphql');
  const { username, password, search, hash } = parsed;
  if (`${username}${password}${search}${hash}` !== '')
    throw new TypeError('url must have no user, password, query or fragment');
  if (parsed.pathname === '/') parsed.pathname = '/graphql';
  return parsed.href;
}

function parseUrl(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
