// Sends requests to untrusted URLs, with bounds on the addresses, the time and the response.
import { createDns, type Dns } from '@partner-loyalty/runtime/http/dns.ts';
import { createConnector } from '@partner-loyalty/runtime/http/happyeyeballs.ts';
import { limitBytes } from '@partner-loyalty/runtime/http/limitbytes.ts';
import { lookUpByDns } from '@partner-loyalty/runtime/http/names.ts';
import { type Reach, reachOf } from '@partner-loyalty/runtime/http/publicaddress.ts';
import { Agent } from 'undici';

/** The status of the response, or why there is none. */
export type Posted = { status: number; text?: string } | { reason: ReturnType<typeof reasonOf> };

export type Outgoing = ReturnType<typeof createOutgoing>;

export type Content = { headers: Record<string, string>; body: string };

/** For everything: the name, the connection, and the response. */
const TIMEOUT_MS = 15_000;
/** How long the body may take after the status. */
const BODY_TIMEOUT_MS = 1_000;
const MAX_BODY_BYTES = 65_536;
/** How much of a body is read as text. */
const MAX_TEXT_BYTES = 1_024;
/** Beyond so many hosts that are not public, no text is kept. */
const MAX_HOSTS = 1_000;
/** For a response with its head and framing. */
const MAX_RESPONSE_BYTES = 160 * 1_024;
/** What a chunk counts at least: one of a byte costs more than its byte. */
const MIN_CHUNK_BYTES = 1_024;
/** The maximum of 1xx responses: each costs time to parse. */
const MAX_INTERIM = 10;
/** undici takes 50 times as much for headers of a byte. */
const MAX_HEAD_BYTES = 8_192;
/** How long a connection stays idle: less than most servers wait before they close one. */
const KEEP_ALIVE_MS = 4_000;

/**
 * Sends requests to addresses that `allows` accepts and to no others, whatever a name resolved to
 * before. Names are resolved by DNS, without the threads that `getaddrinfo` would keep busy while
 * a name server does not answer. The text of a response is the beginning of its body, if `keeps`
 * accepts every address that its host has had and that it might have been connected to.
 */
export function createOutgoing(
  allows: (reach: Reach) => boolean,
  resolver: Dns = createDns({ timeoutMs: 3_000, tries: 2 }),
  keeps: (reach: Reach) => boolean = (reach) => reach === 'public',
) {
  const connector = createConnector({
    lookUp: (hostname) => lookUp(hostname, resolver),
    allows(address, host = '') {
      const reach = reachOf(address);
      if (allows(reach) && !keeps(reach) && unkept.size < MAX_HOSTS) unkept.add(host);
      return allows(reach);
    },
    timeoutMs: TIMEOUT_MS,
  });
  const unkept = new Set<string>();
  const agent = new Agent({
    connect: limitBytes(connector, MAX_RESPONSE_BYTES),
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEAD_BYTES,
  });

  return {
    /** Follows no redirect. Never rejects; resolves within 15 seconds. */
    async post(url: URL, content: Content, signal: AbortSignal): Promise<Posted> {
      // No AbortSignal.any: on Node 20, a signal that lives on keeps each that was made of it.
      const limit = new AbortController();
      const stop = () => limit.abort();
      const late = () => limit.abort(new DOMException('too late', 'TimeoutError'));
      let timer = setTimeout(late, TIMEOUT_MS);
      signal.addEventListener('abort', stop);
      if (signal.aborted) stop();
      let interim = 0;
      const onInfo = ({ statusCode }: { statusCode: number }) => {
        interim += 1;
        // undici asserts that 101 and 0 do not come, which costs Node seconds to say.
        if (interim > MAX_INTERIM || statusCode === 101 || statusCode < 100) stop();
      };
      const { origin, host, pathname, search } = url;
      try {
        const path = `${pathname}${search}`;
        const options = { origin, path, method: 'POST', signal: limit.signal, onInfo } as const;
        const { statusCode, body } = await agent.request({ ...options, ...content });
        // The status has come, so nothing that happens to the body matters any more.
        clearTimeout(timer);
        timer = setTimeout(() => body.destroy(), BODY_TIMEOUT_MS);
        const isKept = unkept.size < MAX_HOSTS && !unkept.has(host);
        let left = MAX_BODY_BYTES;
        let start = Buffer.alloc(0);
        body.on('data', (chunk: Buffer) => {
          if (isKept && start.length < MAX_TEXT_BYTES)
            start = Buffer.concat([start, chunk.subarray(0, MAX_TEXT_BYTES - start.length)]);
          left -= Math.max(chunk.length, MIN_CHUNK_BYTES);
          if (left <= 0) body.destroy();
        });
        await body.dump({ limit: MAX_BODY_BYTES });
        return { status: statusCode, ...(start.length > 0 && { text: start.toString() }) };
      } catch (error) {
        return { reason: reasonOf(error) };
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
      }
    },
    close: () => agent.destroy(),
  };
}

function lookUp(hostname: string, dns: Dns) {
  const [v6, v4] = lookUpByDns(hostname, dns);
  return [v6.catch(() => []), v4.catch(() => [])] as const;
}

function reasonOf(error: unknown) {
  // Cast: undici and node reject with nothing else.
  const { name, code = '', syscall } = error as NodeJS.ErrnoException;
  if (code === 'ADDRESS' || code === 'DNS') return code;
  if (name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT') return 'TIMEOUT';
  if (syscall === 'connect' || name === 'AggregateError') return 'REFUSED';
  return /TLS|SSL|CERT|SIGNED|SIGNATURE|ISSUER/.test(code) ? 'TLS' : 'CONNECTION';
}
