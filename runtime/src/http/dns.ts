// Asks name servers over UDP alone, since what comes over TCP may take a second to read.
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';
import { decode, encode } from 'dns-packet';

export type Dns = {
  /** The IPv4 addresses of a name. Rejects with a code such as ENOTFOUND if there is none. */
  resolve4(hostname: string): Promise<string[]>;
  /** The same for IPv6. */
  resolve6(hostname: string): Promise<string[]>;
};

type Type = 'A' | 'AAAA';

/** Of an answer: no network splits it (RFC 9715, section 3.2). One that is cut off has the rest. */
const MAX_BYTES = 1_232;
const RECURSION_DESIRED = 1 << 8;
/** Labels of 1 to 63 characters (RFC 1035, section 2.3.4). */
const NAME = /^(?:[^.]{1,63}(?:\.(?!$)|\.?$))+$/;

type DnsOptions = {
  /** As `dns.getServers` has them; by default those of the system at the time of a look-up. */
  servers?: readonly string[];
  /** How long a server has to answer. */
  timeoutMs: number;
  /** How often each server is asked. */
  tries: number;
};

export function createDns({ servers: given, timeoutMs, tries }: DnsOptions): Dns {
  const resolve = async (hostname: string, type: Type): Promise<string[]> => {
    // dns-packet would write another name.
    if (!NAME.test(hostname)) throw failed('ENOTFOUND');
    const servers = given ?? new Resolver().getServers();
    /** An error made in advance keeps each `this` of its stack, such as the connection before. */
    let failure: NodeJS.ErrnoException | undefined;
    for (let asked = 0; asked < tries * servers.length; asked += 1)
      try {
        // Cast: the index is one of the list.
        return await ask(servers[asked % servers.length] as string, hostname, type, timeoutMs);
      } catch (error) {
        failure = error as NodeJS.ErrnoException; // Cast: `ask` rejects with nothing else.
        if (failure.code === 'ENOTFOUND' || failure.code === 'ENODATA') break;
      }
    throw failure ?? failed('ENOTFOUND');
  };
  return {
    resolve4: (hostname) => resolve(hostname, 'A'),
    resolve6: (hostname) => resolve(hostname, 'AAAA'),
  };
}

/** Asks one server once. */
function ask(server: string, hostname: string, type: Type, timeoutMs: number): Promise<string[]> {
  const id = randomInt(65_536);
  const [host, port] = addressOf(server);
  const query = encode({
    ...{ type: 'query', id, flags: RECURSION_DESIRED, questions: [{ type, name: hostname }] },
    additionals: [
      { type: 'OPT', name: '.', udpPayloadSize: MAX_BYTES, flags: 0, options: [] } as never,
    ],
  });
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  return new Promise<string[]>((resolve, reject) => {
    const timer = setTimeout(() => reject(failed('ETIMEOUT')), timeoutMs);
    socket.once('close', () => clearTimeout(timer));
    socket.on('error', reject);
    socket.on('message', (message) => {
      const found = answerIn(message, id, hostname, type);
      if (typeof found === 'string') reject(failed(found));
      else if (found !== undefined) resolve(found);
    });
    // From a port that nobody can guess, and no other server is heard.
    socket.once('connect', () => socket.send(query));
    socket.connect(port, host);
  }).finally(() => socket.close());
}

/** The addresses, or why there are none; undefined if it is no answer to the question. */
function answerIn(
  message: Buffer,
  id: number,
  hostname: string,
  type: Type,
): string[] | string | undefined {
  if (message.length > MAX_BYTES) return undefined;
  try {
    const packet = decode(message);
    const [question] = packet.questions ?? [];
    const isAnswer = packet.id === id && packet.type === 'response' && question?.type === type;
    if (!isAnswer || question.name.toLowerCase() !== hostname.replace(/\.$/, '').toLowerCase())
      return undefined;
    // The types leave it out.
    const { rcode } = packet as { rcode?: string };
    if (rcode !== 'NOERROR') return rcode === 'NXDOMAIN' ? 'ENOTFOUND' : 'ESERVFAIL';
    const found = (packet.answers ?? []).flatMap((answer) =>
      answer.type === type && isIP(answer.data) !== 0 ? [answer.data] : [],
    );
    return found.length > 0 ? found : 'ENODATA';
  } catch {
    return undefined; // It cannot be read.
  }
}

/** Such as `192.0.2.1`, `192.0.2.1:5353` and `[2001:db8::1]:5353`. */
function addressOf(server: string): [host: string, port: number] {
  if (isIP(server) !== 0) return [server, 53];
  const colon = server.lastIndexOf(':');
  return [server.slice(0, colon).replace(/[[\]]/g, ''), Number(server.slice(colon + 1))];
}

function failed(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}
