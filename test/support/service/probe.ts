// A caller who must be served as usual while another one does harm.
import type { Client } from './client.ts';

/** A service that takes longer hangs. */
const HANG_MS = 60_000;

export type Probe = {
  /** The request that it sends, and the response that it expects each time. */
  request: { query: string; variables: Record<string, unknown>; requestId: string };
  expected: string;
  /**
   * Runs `harm` while sending the request again and again. Rejects if a response is missing or
   * differs from the expected one.
   */
  during<T>(harm: () => Promise<T>): Promise<T>;
};

/** Records how the service responds in normal operation. */
export async function startProbe(send: Client): Promise<Probe> {
  const query =
    'query ($email: String!) { memberByEmail(email: $email) { memberId email firstName lastName tier points } }';
  const request = { query, variables: { email: 'both@example.com' }, requestId: 'probe' };
  const expected = (await send(request)).text;
  return {
    request,
    expected,
    async during(harm) {
      let done = false;
      const probing = (async () => {
        do {
          const { text } = await orHang(send(request));
          if (text !== expected) throw new Error(`another caller received ${text}`);
        } while (!done);
      })();
      // It is awaited below, after the harm.
      probing.catch(() => undefined);
      try {
        return await orHang(harm());
      } finally {
        done = true;
        await probing;
      }
    },
  };
}

async function orHang<T>(response: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the service does not respond')), HANG_MS);
  });
  return Promise.race([response, hang]).finally(() => clearTimeout(timer));
}
