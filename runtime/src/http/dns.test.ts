// What name servers may answer, and what is not listened to.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type DecodedPacket, decode, encode, type Packet } from 'dns-packet';
import { keepsCaller } from '../../../test/support/keepscaller.ts';
import { createDns } from './dns.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server that sends these messages for each question, or nothing. */
async function serve(answer: (query: DecodedPacket) => readonly Buffer[]): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    for (const each of answer(decode(message))) socket.send(each, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  closing.push(() => socket.close());
  return `127.0.0.1:${(socket.address() as AddressInfo).port}`;
}

const NXDOMAIN = 3;
const SERVFAIL = 2;
const answerTo = ({ id, questions = [] }: DecodedPacket, addresses: string[], more: Packet = {}) =>
  encode({
    ...{ type: 'response', id, questions },
    answers: addresses.map((data) => ({ type: 'A', name: 'a.example', data })),
    ...more,
  } as Packet);

const resolve = (...servers: string[]) =>
  createDns({ servers, timeoutMs: 200, tries: 2 }).resolve4('A.example');

test('a name has the addresses of the first server that answers', async () => {
  const silent = await serve(() => []);
  const failing = await serve((query) => [answerTo(query, [], { flags: SERVFAIL })]);
  const right = await serve((query) => [answerTo(query, ['192.0.2.1', '192.0.2.2'])]);
  // The system sends nothing to the last but one.
  expect(await resolve(silent, failing, '255.255.255.255', right)).toEqual([
    '192.0.2.1',
    '192.0.2.2',
  ]);
});

test('a name without addresses is asked for once', async () => {
  let asked = 0;
  const count = (query: DecodedPacket, flags: number) => {
    asked += 1;
    return [answerTo(query, [], { flags })];
  };
  const none = await serve((query) => count(query, NXDOMAIN));
  await expect(resolve(none, none)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  const empty = await serve((query) => count(query, 0));
  await expect(resolve(empty, empty)).rejects.toMatchObject({ code: 'ENODATA' });
  expect(asked).toBe(2);
});

test('attack: a message that is large, cannot be read or answers something else is not heard', async () => {
  const other = { type: 'A', name: 'b.example' } as const;
  const server = await serve((query) => [
    Buffer.from('no message'),
    answerTo({ ...query, id: ((query.id ?? 0) + 1) & 0xffff }, ['192.0.2.3']),
    answerTo({ ...query, questions: [other] }, ['192.0.2.4']),
    answerTo(query, Array<string>(200).fill('192.0.2.5')),
    answerTo(query, ['192.0.2.1']),
  ]);
  expect(await resolve(server)).toEqual(['192.0.2.1']);
});

test('attack: a name that cannot be asked for is not, and what is no address is none', async () => {
  let asked = 0;
  const server = await serve((query) => {
    asked += 1;
    const answers = [{ type: 'A', name: 'a.example', data: Buffer.alloc(0) }];
    // An empty record, which dns-packet cannot write as an address.
    const [record] = answers.map(({ data }) => ({ type: 'UNKNOWN_1', name: 'a.example', data }));
    const message = encode({
      ...{ type: 'response', id: query.id, questions: query.questions, answers: [record] },
    } as never);
    message.writeUInt16BE(1, message.length - 10);
    return [message];
  });
  const dns = createDns({ servers: [server], timeoutMs: 200, tries: 1 });
  for (const name of ['a..example', `${'a'.repeat(64)}.example`, '.example', ''])
    await expect(dns.resolve4(name)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(asked).toBe(0);
  await expect(dns.resolve4('a.example.')).rejects.toMatchObject({ code: 'ENODATA' });
});

test('attack: what was cut off is not asked for over TCP', async () => {
  const CUT_OFF = 1 << 9;
  const server = await serve((query) => [answerTo(query, ['192.0.2.1'], { flags: CUT_OFF })]);
  expect(await resolve(server)).toEqual(['192.0.2.1']);
  const silent = await serve(() => []);
  await expect(resolve(silent)).rejects.toMatchObject({ code: 'ETIMEOUT' });
});

test('a question does not keep its caller', async () => {
  const dns = createDns({ servers: [await serve(() => [])], timeoutMs: 1_000, tries: 1 });
  let asked: Promise<unknown> | undefined;
  const ask = () => {
    asked = dns.resolve4('a.example').catch(() => 'nothing');
  };
  expect(await keepsCaller(ask)).toBe(false);
  expect(await asked).toBe('nothing');
});
