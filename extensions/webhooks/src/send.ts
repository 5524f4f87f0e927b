// Sends one message to an endpoint, as the Standard Webhooks specification has it.

import { omitUndefined, withoutAltering } from '@partner-loyalty/runtime/input.ts';
import { ERASED_FIELDS, type Event } from '@partner-loyalty/standings/rules/event.ts';
import type { Endpoint } from '@partner-loyalty/standings/store/webhooks.ts';
import { Webhook } from 'standardwebhooks';
import { rulesFor, urlFault, type WebhookSecrets } from './target.ts';
import { createSendingThread } from './thread.ts';

/** `timestamp` is when the event occurred. */
type Message = { id: string; type: string; timestamp: Date; data: object };

export type Sent = {
  /** A status from 200 to 299. */
  ok: boolean;
  status?: number;
  /** A short constant, if it is not ok. */
  reason?: string;
  /** The beginning of the response's body, if it may be kept. */
  answer?: string;
  durationMs: number;
};

/** Sends one message, once. Never rejects; resolves within about 15 seconds. */
export type Send = (
  endpoint: Pick<Endpoint, 'url' | 'secrets' | 'byStaff'>,
  message: Message,
  options: { signal: AbortSignal; now: number },
) => Promise<Sent>;

/** What the body of a message has. */
export function payloadOf({ type, timestamp, data }: Message): object {
  return { type, timestamp, data };
}

const MAX_ANSWER = 200;

/** In one line. What has an ID that an erasure would take out of the event is not kept. */
export function answerIn(text: string, data: object): string | undefined {
  const ids = ERASED_FIELDS.flatMap((field) => (data as Partial<Event>)[field] ?? []);
  if (ids.some((id) => text.includes(id))) return undefined;
  const line = withoutAltering(text.replace(/\s+/g, ' ')).trim();
  return [...line].slice(0, MAX_ANSWER).join('') || undefined;
}

export function createSender(
  settings: Parameters<typeof rulesFor>[1],
  secrets: Pick<WebhookSecrets, 'unseal'>,
): { send: Send; close(): Promise<void> } {
  const thread = createSendingThread();

  async function attempt(...[endpoint, message, { signal, now }]: Parameters<Send>) {
    const rules = rulesFor(endpoint, settings);
    // The rules may have changed since the endpoint was made.
    if (urlFault(endpoint.url, rules) !== undefined) return { ok: false, reason: 'ADDRESS' };
    const { id, data } = message;
    const body = JSON.stringify(payloadOf(message));
    const valid = endpoint.secrets.filter(({ until }) => until === undefined || until > now);
    const signatures = await Promise.all(
      valid.map(async ({ sealed }) =>
        new Webhook(await secrets.unseal(sealed)).sign(id, new Date(now), body),
      ),
    );
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'partner-loyalty',
      'webhook-id': id,
      // The time of the attempt, since receivers refuse what is older than some minutes.
      'webhook-timestamp': String(Math.floor(now / 1_000)),
      'webhook-signature': signatures.join(' '),
    };
    const posted = await thread.post(endpoint.url, { headers, body }, rules, signal);
    if ('reason' in posted) return { ok: false, ...posted };
    const { status, text = '' } = posted;
    const answer = answerIn(text, data);
    if (status >= 200 && status < 300) return { ok: true, status, answer };
    return { ok: false, status, reason: 'STATUS', answer };
  }

  return {
    async send(...args) {
      const startedAt = performance.now();
      const sent = await attempt(...args).catch(() => ({ ok: false, reason: 'SECRET' }));
      return omitUndefined({ ...sent, durationMs: Math.round(performance.now() - startedAt) });
    },
    close: thread.close,
  };
}
