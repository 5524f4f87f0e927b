// Sends operations: attempts, waits between them, and what responses report beside their data.
import type { Authorize } from '../credential.ts';
import { type CallError, isCallError } from '../errors.ts';
import { type ClientOptions, endpointOf, timingOf } from '../options.ts';
import type { CallOptions } from '../surface/operation.ts';
import { exchange, within } from './exchange.ts';
import { type Limits, limitsIn, type ReadResponse, readResponse } from './response.ts';
import { pause, retryOf, waitAfter } from './retry.ts';

type Sent = {
  query: string;
  variables: Record<string, unknown>;
  operationName?: string | undefined;
};

/** The response to an operation that ran, at least in part. */
export type Received = {
  data: Record<string, unknown>;
  errors: CallError[];
  requestId: string;
  limits: Limits | undefined;
};

export type Sender = ReturnType<typeof createSender>;

type Outcome = { received: Received; failure?: CallError | undefined } | { failure: CallError };

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

export function createSender(options: ClientOptions, authorize: Authorize) {
  const url = endpointOf(options.url);
  const base = timingOf(options);
  // A browser's fetch cannot be called as a method of another object.
  const ask: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));
  let latest: Limits | undefined;

  async function attempt(
    body: string,
    requestId: string,
    number: number,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    const { raw, secret } = await within(timeoutMs, { requestId, signal }, async (ended) => {
      const { headers: credential, secret } = await authorize(requestId);
      const headers = {
        ...credential,
        'content-type': 'application/json',
        'x-request-id': requestId,
      };
      const raw = await exchange({ url, headers, body, requestId, fetch: ask }, ended);
      return { raw, secret };
    });
    const limits = limitsIn(raw.headers);
    latest = limits ?? latest;
    const { status } = raw;
    options.onResponse?.({ status, headers: raw.headers, requestId, limits, attempt: number });
    return outcomeOf(readResponse(raw, requestId, secret), requestId, limits);
  }

  /**
   * Rejects with a CallError if there is no data, or none that is worth having: every root field is
   * null for an error of the service. `takesPart`: whether the caller takes a response that lacks a
   * part of the service.
   */
  async function send(
    sent: Sent,
    { repeatable, takesPart }: { repeatable: boolean; takesPart: boolean },
    call: CallOptions,
  ): Promise<Received> {
    const timing = timingOf(call, base);
    const { signal, requestId = newRequestId() } = call;
    if (!REQUEST_ID.test(requestId))
      throw new TypeError('requestId must be 1 to 128 characters of [A-Za-z0-9._-]');
    const body = JSON.stringify(sent);
    const attempts = { made: 0, elapsedMs: 0, repeatable, ran: false, partial: 0, once: 0 };
    const startedAt = performance.now();
    for (;;) {
      attempts.made += 1;
      const timeoutMs = Math.min(timing.timeoutMs, timing.deadlineMs - attempts.elapsedMs);
      const outcome = await attempt(body, requestId, attempts.made, timeoutMs, signal).catch(
        failureIn,
      );
      const { failure } = outcome;
      attempts.ran = 'received' in outcome;
      if (takesPart && attempts.ran) attempts.partial += 1;
      if (failure && retryOf(failure.code) === 'once') attempts.once += 1;
      attempts.elapsedMs = performance.now() - startedAt;
      const ms = failure && waitAfter(failure, attempts, timing);
      if (ms === undefined) {
        if ('received' in outcome) return outcome.received;
        throw outcome.failure;
      }
      await pause(ms, signal);
      attempts.elapsedMs = performance.now() - startedAt;
    }
  }

  /** What the latest response reports of the budget. */
  const limits = () => latest;
  return { send, limits };
}

/** A response without a part of the service can be returned, but a complete one is better. */
function outcomeOf(response: ReadResponse, requestId: string, limits: Limits | undefined): Outcome {
  const { data, errors, status } = response;
  const [first] = errors;
  if (first !== undefined && (data === undefined || status !== 200)) return { failure: first };
  const failure = errors.find(({ code }) => retryOf(code) !== 'never');
  return { received: { data: data ?? {}, errors, requestId, limits }, failure };
}

function failureIn(error: unknown): Outcome {
  if (isCallError(error)) return { failure: error };
  throw error;
}

function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
