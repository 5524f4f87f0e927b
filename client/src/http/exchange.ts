// One HTTP request and its response, within a time and a size.
import { PartnerLoyaltyError } from '../errors.ts';

type Exchange = {
  url: string;
  headers: Record<string, string>;
  body: string;
  requestId: string;
  fetch: typeof fetch;
};

export type RawResponse = { status: number; headers: Headers; text: string };

/** Twice what the service sends at most. */
const MAX_RESPONSE_BYTES = 2 ** 21;
/** The longest delay of setTimeout. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Resolves as `run` does, whose signal aborts when its time is over. Rejects with TIMEOUT then, or
 * with the reason of `signal` when it aborts, even if `run` goes on.
 */
export async function within<T>(
  timeoutMs: number,
  { requestId, signal }: { requestId: string; signal: AbortSignal | undefined },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    const message = `no response within ${Math.ceil(timeoutMs)} ms`;
    const late = new PartnerLoyaltyError('TIMEOUT', message, { requestId });
    controller.signal.addEventListener('abort', () =>
      reject(signal?.aborted ? signal.reason : late),
    );
  });
  const abort = () => controller.abort();
  const timer = setTimeout(abort, Math.min(timeoutMs, LONGEST_TIMER_MS));
  signal?.addEventListener('abort', abort);
  try {
    return await Promise.race([ended, run(controller.signal)]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** Rejects with a PartnerLoyaltyError, without what fetch says: that may hold headers. */
export async function exchange(sent: Exchange, signal: AbortSignal): Promise<RawResponse> {
  try {
    return await post(sent, signal);
  } catch (error) {
    if (error instanceof PartnerLoyaltyError) throw error;
    const { requestId } = sent;
    const message = `no response${systemCode(error)}`;
    throw new PartnerLoyaltyError('NETWORK_ERROR', message, { requestId });
  }
}

async function post(sent: Exchange, signal: AbortSignal): Promise<RawResponse> {
  const { fetch, url, headers, body } = sent;
  // A redirect is never followed: it could take the credential elsewhere. With 'error', it would
  // look like a broken connection.
  const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
  const { status } = response;
  if (
    response.type === 'opaqueredirect' ||
    response.redirected ||
    (status >= 300 && status < 400)
  ) {
    await response.body?.cancel();
    throw unexpected('the response is a redirect: set url to the final endpoint', sent, status);
  }
  return { status, headers: response.headers, text: await textOf(response, sent) };
}

async function textOf(response: Response, sent: Exchange): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return response.text();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) {
      await reader.cancel();
      throw unexpected('the response is too large', sent, response.status);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function unexpected(message: string, { requestId }: Exchange, status: number) {
  return new PartnerLoyaltyError('UNEXPECTED_RESPONSE', message, { requestId, status });
}

/** Such as ECONNREFUSED, which Node's fetch has in the cause. */
function systemCode(error: unknown): string {
  // Cast: whatever was thrown, these properties can be read.
  const code = (error as { cause?: { code?: unknown } | null } | null)?.cause?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? `: ${code}` : '';
}
