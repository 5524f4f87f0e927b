// Reads a response: its data, and its errors as errors of the client.
import {
  type CallError,
  type ErrorCode,
  type ErrorDetails,
  PartnerLoyaltyError,
} from '../errors.ts';
import { SERVICE_CODES } from '../generated/errors.generated.ts';
import type { RawResponse } from './exchange.ts';

export type Limits = {
  /** The budget of the window. */
  limit: number;
  /** What is left of it. */
  remaining: number;
  /** Whole seconds until the window ends. */
  resetSeconds: number;
};

/** Undefined if the response reports none. */
export function limitsIn(headers: Headers): Limits | undefined {
  const limit = wholeNumber(headers.get('ratelimit-limit'));
  const remaining = wholeNumber(headers.get('ratelimit-remaining'));
  const resetSeconds = wholeNumber(headers.get('ratelimit-reset'));
  if (limit === undefined || remaining === undefined || resetSeconds === undefined)
    return undefined;
  return { limit, remaining, resetSeconds };
}

function wholeNumber(value: unknown): number | undefined {
  return /^\d{1,9}$/.test(String(value)) ? Number(value) : undefined;
}

export type ReadResponse = {
  status: number;
  /** Undefined if the service refused the request, so that nothing ran. */
  data: Record<string, unknown> | undefined;
  errors: CallError[];
};

const MAX_TEXT = 300;
const MAX_ERRORS = 100;
const MAX_STEPS = 20;
/** The statuses with which proxies respond for a service that is not reachable. */
export const AWAY: readonly unknown[] = [502, 503, 504];

type Received = Record<string, unknown>;

/** Never throws. A response of another form is read as one error. */
export function readResponse(raw: RawResponse, requestId: string, secret: string): ReadResponse {
  const { status } = raw;
  // A date, which the service never sends, counts as none.
  const retryAfterSeconds = wholeNumber(raw.headers.get('retry-after'));
  const details = { status, requestId, retryAfterSeconds };
  const body = asObject(parse(raw.text));
  const data = asObject(body?.data);
  const listed = Array.isArray(body?.errors) ? body.errors.slice(0, MAX_ERRORS) : [];
  const errors = listed.map((each) => errorOf(asObject(each) ?? {}, body, details, secret));
  if (errors.length > 0 || (data !== undefined && status === 200)) return { status, data, errors };
  return { status, data: undefined, errors: [foreign(details)] };
}

function errorOf(
  received: Received,
  body: Received | undefined,
  details: ErrorDetails,
  secret: string,
): CallError {
  const text = (value: unknown) =>
    typeof value === 'string' ? value.replaceAll(secret, '…').slice(0, MAX_TEXT) : undefined;
  const extensions = asObject(received.extensions) ?? {};
  const code = text(extensions.code);
  const isKnown = code !== undefined && Object.hasOwn(SERVICE_CODES, code);
  const { path } = received;
  const step = (value: unknown) => (typeof value === 'number' ? value : (text(value) ?? ''));
  return callError(
    // Cast: it is one of the table.
    isKnown ? (code as ErrorCode) : 'OTHER',
    text(received.message) ?? 'the service reports an error',
    {
      ...details,
      requestId: text(extensions.requestId) ?? details.requestId,
      argument: text(extensions.argument),
      reason: text(extensions.reason),
      retryAfterSeconds: wholeNumber(extensions.retryAfter) ?? details.retryAfterSeconds,
      correctEndpoint: text(extensions.correctEndpoint) ?? text(body?.correctEndpoint),
      otherCode: isKnown ? undefined : (code ?? ''),
      path: Array.isArray(path) ? path.slice(0, MAX_STEPS).map(step) : undefined,
    },
  );
}

/** The error for a response that has neither the data nor GraphQL errors. */
function foreign(details: ErrorDetails & { status: number }): CallError {
  const { status } = details;
  if (status === 429) return callError('RATE_LIMITED', 'too many requests', details);
  if (AWAY.includes(status))
    return callError('SERVICE_UNAVAILABLE', 'the service is unavailable for the moment', details);
  const message = `the response is not one of the service (status ${status})`;
  return callError('UNEXPECTED_RESPONSE', message, details);
}

/** An error with a code that is one of the union's. */
export function callError(code: ErrorCode, message: string, details: ErrorDetails): CallError {
  // Cast: the union has an entry for each code.
  return new PartnerLoyaltyError(code, message, details) as CallError;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Received | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  // Cast: an object of JSON.
  return isObject ? (value as Received) : undefined;
}
