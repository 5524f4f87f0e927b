// A caller who is served while another one does harm.
import type { Client } from './client.ts';

/** Beyond this a service hangs. */
const PATIENCE_MS = 10_000;

export type Heartbeat = {
  /** What it asks, and what it hears each time. */
  asked: { query: string; variables: Record<string, unknown>; requestId: string };
  heard: string;
  /** Does something harmful while this caller goes on asking; rejects where it is not answered, or hears something else than before. */
  during<T>(harm: () => Promise<T>): Promise<T>;
};

/** Finds out what the service answers in good times. */
export async function startHeartbeat(ask: Client): Promise<Heartbeat> {
  const query =
    'query ($email: String!) { memberByEmail(email: $email) { memberId email firstName lastName tier points } }';
  const asked = { query, variables: { email: 'both@example.com' }, requestId: 'heartbeat' };
  const heard = (await ask(asked)).text;
  return {
    asked,
    heard,
    async during(harm) {
      let done = false;
      const others = (async () => {
        do {
          const { text } = await patiently(ask(asked));
          if (text !== heard) throw new Error(`another caller was answered with ${text}`);
        } while (!done);
      })();
      // Awaited below, after the harm.
      others.catch(() => undefined);
      try {
        return await patiently(harm());
      } finally {
        done = true;
        await others;
      }
    },
  };
}

async function patiently<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the service does not answer')), PATIENCE_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
