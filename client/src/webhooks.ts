// Verifies webhooks, which are signed as the Standard Webhooks specification has it.
import type { Event, EventType } from './generated/partner.generated.ts';

/** What a webhook says. TEST is what an operator sends to try the endpoint. */
export type Webhook = {
  /** The `webhook-id`, which is the same each time that a message comes. */
  id: string;
  timestamp: string;
} & (
  | { type: EventType; data: Omit<Event, 'member'> }
  | { type: 'TEST'; data: Record<string, never> }
);

/** Those of fetch or those of Node. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** The request is not a webhook of the service. No error contains the secret or the body. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  /** What is missing or wrong. */
  readonly reason: 'HEADERS' | 'TIMESTAMP' | 'SIGNATURE' | 'BODY';

  constructor(reason: WebhookError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

const TOLERANCE_SECONDS = 300;
/** While a secret is rotated, there are two. */
const MAX_SIGNATURES = 20;
/** 32 bytes in Base64. */
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/;

/**
 * Resolves with the webhook that a request carries. `body` is the body as it arrived, and `secret`
 * the endpoint's. Rejects with a WebhookError unless the request was signed with the secret within
 * 5 minutes of now, and with a TypeError if `body` or `secret` cannot be one.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
): Promise<Webhook> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError('body must be the body as it arrived: a string or bytes');
  const key = await keyOf(secret);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  if (!id || !timestamp || !signatures)
    throw new WebhookError('HEADERS', 'the request lacks a header of webhooks');
  const age = Math.floor(Date.now() / 1_000) - Number(timestamp);
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(age) > TOLERANCE_SECONDS)
    throw new WebhookError('TIMESTAMP', 'the webhook was not signed within 5 minutes of now');
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  for (const each of signatures.split(' ', MAX_SIGNATURES)) {
    const [, signature] = SIGNATURE.exec(each) ?? [];
    if (signature === undefined) continue;
    // Compares in constant time.
    if (await crypto.subtle.verify('HMAC', key, bytesOf(signature), signed))
      return readWebhook(id, bytes);
  }
  throw new WebhookError('SIGNATURE', 'the webhook is not signed with this secret');
}

/** Rejects with a TypeError that does not repeat the secret. */
async function keyOf(secret: string) {
  const [, base64 = ''] = /^whsec_(.+)$/.exec(secret) ?? [];
  try {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    return await crypto.subtle.importKey('raw', bytesOf(base64), algorithm, false, ['verify']);
  } catch {
    throw new TypeError('secret must be the secret of a webhook endpoint: whsec_…');
  }
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  // Cast: only the headers of fetch have a function.
  if (typeof headers.get === 'function') return (headers as Headers).get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([each]) => each.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : undefined;
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** Throws if it is not Base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function readWebhook(id: string, body: Uint8Array): Webhook {
  try {
    const { type, timestamp, data } = JSON.parse(new TextDecoder().decode(body));
    const hasForm = typeof type === 'string' && typeof timestamp === 'string';
    // Cast: the service, which has signed it, gives each type the data that the types say.
    if (hasForm && typeof data === 'object' && data !== null)
      return { id, type, timestamp, data } as Webhook;
  } catch {
    // It is no JSON.
  }
  throw new WebhookError('BODY', 'the body is not that of a webhook');
}
