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

/** The headers of a request, as fetch or Node has them. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** The request is not a webhook of the service. No error contains the secret or the body. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  /** What is missing or wrong. */
  readonly reason: 'HEADERS' | 'TIMESTAMP' | 'SIGNATURE';

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
  const seconds = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  if (!id || !seconds || !signatures)
    throw new WebhookError('HEADERS', 'the request lacks a header of webhooks');
  const age = Math.floor(Date.now() / 1_000) - Number(seconds);
  if (!/^\d{1,12}$/.test(seconds) || Math.abs(age) > TOLERANCE_SECONDS)
    throw new WebhookError('TIMESTAMP', 'the webhook was not signed within 5 minutes of now');
  // Cast: TypeScript allows no view of shared memory here; what Node gives is none.
  const content = new Blob([body as string | Uint8Array<ArrayBuffer>]);
  const signed = await new Blob([`${id}.${seconds}.`, content]).arrayBuffer();
  for (const each of signatures.split(' ', MAX_SIGNATURES)) {
    const [, signature] = SIGNATURE.exec(each) ?? [];
    // Compares in constant time.
    if (signature && (await crypto.subtle.verify('HMAC', key, bytesOf(signature), signed))) {
      const { type, timestamp, data } = JSON.parse(await content.text());
      return { id, type, timestamp, data };
    }
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

/** Throws if it is not Base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
