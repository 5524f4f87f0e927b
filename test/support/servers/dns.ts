// A name server for tests, whose answers can change between two questions.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createDns } from '@partner-loyalty/runtime/http/dns.ts';
import ipaddr from 'ipaddr.js';

type Addresses = string[] | 'no such name' | undefined;

/**
 * Answers with the addresses that a name has at the time of the question; undefined is silence.
 * `question` counts those for IPv4 addresses.
 */
export async function startDns(
  addresses: (name: string, question: number, family: 4 | 6) => Addresses | Promise<Addresses>,
  timeout = 2_000,
) {
  const socket = createSocket('udp4');
  let questions = 0;
  socket.on('message', async (message, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
      labels.push(message.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const isV6 = message.readUInt16BE(at + 1) === 28;
    if (!isV6) questions += 1;
    const found = await addresses(labels.join('.'), questions, isV6 ? 6 : 4);
    if (found === undefined) return;
    const isKnown = found !== 'no such name';
    const records = (isKnown ? found : [])
      .map((text) => ipaddr.parse(text))
      .filter((parsed) => (parsed.kind() === 'ipv6') === isV6)
      .map((parsed) => {
        const bytes = Buffer.from(parsed.toByteArray());
        const head = Buffer.from([0xc0, 12, 0, isV6 ? 28 : 1, 0, 1, 0, 0, 0, 0, 0, bytes.length]);
        return Buffer.concat([head, bytes]);
      });
    const header = Buffer.from(message.subarray(0, 12));
    header.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    const answer = Buffer.concat([header, message.subarray(12, at + 5), ...records]);
    socket.send(answer, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const servers = [`127.0.0.1:${(socket.address() as AddressInfo).port}`];
  const resolver = createDns({ servers, timeoutMs: timeout, tries: 2 });
  return {
    resolver,
    /** Questions for IPv4 addresses. */
    questions: () => questions,
    close() {
      socket.close();
    },
  };
}
