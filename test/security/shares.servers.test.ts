// Attacks on what belongs to all, with default settings and little memory: others are served.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { makeSecret } from '@partner-loyalty/members';
import { digest } from '@partner-loyalty/members/tables/access.ts';
import { calibrate, cpuOf } from '../support/cpu.ts';
import { loyalty } from '../support/service/loyalty.ts';
import { BUILT_IN } from '../support/service/mailbox.ts';
import { type Probe, startProbe } from '../support/service/probe.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

let service: DeployedService;
let probe: Probe;
const opened: Socket[] = [];

beforeAll(async () => {
  service = await startDeployed('one process', {
    ...BUILT_IN,
    NODE_OPTIONS: '--max-old-space-size=256',
  });
  // Both partners send more than a default budget allows.
  for (const partner of ['alpha', 'beta'] as const) await raiseBudget(partner);
  probe = await startProbe(service.send);
});
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});
afterAll(() => service.close());

async function raiseBudget(partner: 'alpha' | 'beta'): Promise<void> {
  await loyalty(service.stack.env, 'partners', 'update', partner, '--budget', '1000000');
  await until(async () => {
    const { headers } = await service.send({ query: '{ __typename }', key: service.keys[partner] });
    return headers.get('ratelimit-limit') === '1000000';
  });
}

/** A connection that notes what it receives, from one of the loopback addresses. */
async function open(address: string): Promise<Socket & { received: string }> {
  const { port, hostname } = new URL(service.stack.gateway.url);
  const socket = connect({ port: Number(port), host: hostname, localAddress: address });
  const noted = Object.assign(socket.setEncoding('latin1'), { received: '' });
  socket.on('error', () => {});
  opened.push(socket);
  await once(socket, 'connect');
  return noted;
}

function listen(socket: Socket & { received: string }): void {
  socket.on('data', (text: string) => {
    socket.received += text;
  });
}

const openAll = (count: number, address: string) =>
  Promise.all(Array.from({ length: count }, () => open(address)));

const post = (body: string, headers: string[] = []) =>
  [
    'POST /graphql HTTP/1.1',
    'host: x',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    ...headers,
    '',
    body,
  ].join('\r\n');
const keyOf = (key: string) => `x-partner-api-key: ${key}`;

/** The value of a metric, summed over its series that match. */
async function metric(name: string, labels = ''): Promise<number> {
  const response = await fetch(`${service.stack.gateway.adminUrl}/metrics`);
  const lines = (await response.text()).split('\n');
  return lines
    .filter((line) => line.startsWith(name) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

const heapBytes = () => metric('nodejs_heap_size_used_bytes');
const statuses = (text: string) => text.match(/HTTP\/1\.1 \d+/g) ?? [];

test('of thousands of requests in one write, 16 are served, and the others never become objects', async () => {
  const sockets = await openAll(20, '127.0.0.2');
  let largest = 0;
  await probe.during(async () => {
    for (const socket of sockets) {
      listen(socket);
      socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(3_400));
    }
    for (const _ of Array(10).keys()) largest = Math.max(largest, await heapBytes());
  });
  expect(largest).toBeLessThan(128e6);
  await until(() => sockets.every(({ destroyed }) => destroyed));
  for (const { received } of sockets) expect(statuses(received)).toHaveLength(16);
});

test('a connection that pipelines requests of a valid key holds nobody up', async () => {
  const socket = await open('127.0.0.2');
  listen(socket);
  const request = post('{"query":"{ __typename }"}', [keyOf(service.keys.beta)]);
  await probe.during(async () => {
    for (let sent = 16; sent <= 1_600; sent += 16) {
      socket.write(request.repeat(16));
      await until(() => statuses(socket.received).length === sent);
    }
  });
});

test('2,048 slow bodies from four addresses take no place from a valid key', async () => {
  const before = await metric('loyalty_shed_requests_total');
  for (const host of [2, 3, 4, 5]) {
    const sockets = await openAll(512, `127.0.0.${host}`);
    for (const socket of sockets) socket.write(`${post('x'.repeat(1_000)).slice(0, -999)}`);
  }
  await probe.during(async () => {
    for (const _ of Array(72).keys())
      expect((await service.send(probe.request)).text).toBe(probe.expected);
  });
  expect(await metric('loyalty_shed_requests_total')).toBe(before);
});

test('a body that arrives at less than 1 KiB/s gets a 408, and its connection ends', async () => {
  const [slow, silent, steady] = await openAll(3, '127.0.0.6');
  const whole = post(JSON.stringify({ query: `{ __typename }${' '.repeat(16_000)}` }), [
    keyOf(service.keys.beta),
  ]);
  const head = whole.indexOf('\r\n\r\n') + 4;
  for (const socket of [slow, silent, steady]) {
    if (socket === undefined) throw new Error('not connected');
    listen(socket);
    socket.write(whole.slice(0, head));
  }
  let sent = head;
  const timer = setInterval(() => {
    slow?.write(' ');
    steady?.write(whole.slice(sent, sent + 400));
    sent += 400;
  }, 200);
  await until(() => slow?.destroyed === true && silent?.destroyed === true);
  await until(() => statuses(steady?.received ?? '').length > 0);
  clearInterval(timer);
  expect([slow, silent, steady].map((one) => statuses(one?.received ?? ''))).toEqual([
    ['HTTP/1.1 408'],
    ['HTTP/1.1 408'],
    ['HTTP/1.1 200'],
  ]);
  expect(slow?.received).toContain('"code":"BAD_REQUEST"');
  expect(slow?.received).toContain('connection: close');
});

test('512 idle connections of each of eight addresses keep no caller out', async () => {
  for (let host = 2; host < 10; host += 1) await openAll(512, `127.0.0.${host}`);
  const body = JSON.stringify(probe.request);
  for (const _ of Array(40).keys()) {
    const socket = await open('127.0.0.20');
    listen(socket);
    socket.write(post(body, [keyOf(service.keys.alpha), 'connection: close']));
    await once(socket, 'close');
    expect(socket.received).toContain(probe.expected);
  }
  expect(await metric('loyalty_connections_closed_total', 'full')).toBeGreaterThan(0);
});

test('beyond its limit, an address gets a 429 at once, and nothing it sends is read', async () => {
  const body = JSON.stringify({ query: `{ ${'a '.repeat(29_000)}}` });
  const parsed = () => metric('loyalty_document_cache_total');
  const before = await parsed();
  const received: string[] = [];
  for (let n = 0; n < 100; n += 1) {
    const socket = await open('127.0.0.30');
    listen(socket);
    socket.write(post(body) + 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(100));
    await until(() => statuses(socket.received).length > 0);
    received.push(socket.received);
    if (n >= 95) await until(() => socket.destroyed);
    socket.destroy();
  }
  expect(received.filter((text) => text.startsWith('HTTP/1.1 429')).length).toBeGreaterThanOrEqual(
    40,
  );
  expect(received.at(-1)).toMatch(/^HTTP\/1\.1 429 [\s\S]*connection: close/);
  // Requests that are pipelined behind it get no response.
  expect(statuses(received.at(-1) ?? '')).toHaveLength(1);
  expect((await parsed()) - before).toBeLessThanOrEqual(60);
});

test('300 new documents of one partner at once do not hold up another', async () => {
  const sockets = await openAll(300, '127.0.0.2');
  let probes = 0;
  let probesBetween = 0;
  const answered = () => sockets.filter(({ received }) => received !== '').length;
  await probe.during(async () => {
    sockets.forEach((socket, n) => {
      listen(socket);
      const fields = Array.from({ length: 150 }, (_, each) => `f${n}x${each}: tier`).join(' ');
      const query = `{ a${n}: memberByEmail(email: "both@example.com") { ${fields} } }`;
      socket.write(post(JSON.stringify({ query }), [keyOf(service.keys.beta)]));
    });
    while (answered() < 300) {
      expect((await service.send(probe.request)).text).toBe(probe.expected);
      probes += 1;
      if (answered() > 0 && answered() < 300) probesBetween += 1;
    }
  });
  expect(sockets.map(({ received }) => received.slice(0, 12))).toEqual(
    Array(300).fill('HTTP/1.1 200'),
  );
  expect(probes).toBeGreaterThan(5);
  expect(probesBetween).toBeGreaterThan(1);
});

test('a caller that holds 600 connections by x-sandbox-fault: timeout has a quarter of the requests in progress, and others theirs', async () => {
  const request = post('{"query":"{ __typename }"}', [
    keyOf(service.keys.beta),
    'x-sandbox-fault: timeout',
  ]);
  const sockets = [...(await openAll(300, '127.0.0.2')), ...(await openAll(300, '127.0.0.3'))];
  const refused = () => sockets.filter(({ received }) => received.startsWith('HTTP/1.1 503'));
  await probe.during(async () => {
    for (const socket of sockets) {
      listen(socket);
      socket.write(request);
    }
    await until(() => refused().length === 100);
    expect((await service.send(probe.request)).text).toBe(probe.expected);
  });
  for (const socket of sockets) socket.destroy();
  // What a closed connection held is free at once, long before the 10 seconds of the fault.
  await until(
    async () =>
      (await service.send({ query: '{ __typename }', key: service.keys.beta })).status === 200,
  );
});

test('responses that nobody reads take a share of the memory, and then their connections end', async () => {
  const names = Array.from({ length: 90 }, (_, n) => `${'a'.repeat(20)}${n}: email`).join(' ');
  const keys = Array.from({ length: 100 }, () => ({ email: 'both@example.com' }));
  const query = `query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { member { ${names} } } }`;
  const request = post(JSON.stringify({ query, variables: { keys } }), [keyOf(service.keys.beta)]);
  const read = await service.send({ query, variables: { keys }, key: service.keys.beta });
  expect(read.text.length).toBeGreaterThan(300_000);
  const sockets = await openAll(60, '127.0.0.2');
  let largest = 0;
  await probe.during(async () => {
    for (const socket of sockets) {
      socket.pause();
      socket.write(request.repeat(40));
    }
    for (const _ of Array(20).keys()) largest = Math.max(largest, await heapBytes());
  });
  expect(largest).toBeLessThan(200e6);
  const closed = () => metric('loyalty_connections_closed_total', 'unread');
  await until(async () => (await closed()) > 0);
});

test('500 bodies of a valid key that take much memory when parsed do not end the process', async () => {
  const nested = '['.repeat(32_000) + ']'.repeat(32_000);
  const request = post(`{"query":"{ __typename }","variables":{"nested":${nested}}}`, [
    keyOf(service.keys.beta),
  ]);
  const sockets = await openAll(500, '127.0.0.2');
  for (const socket of sockets) {
    listen(socket);
    socket.write(request);
  }
  // Bodies that arrive in parts beyond the address's share are reset.
  const isOver = (one: Socket & { received: string }) =>
    one.destroyed || statuses(one.received).length > 0;
  await until(() => sockets.every(isOver));
  expect((await service.send(probe.request)).text).toBe(probe.expected);
});

test('3,584 connections with as many headers as a head can have do not end the process', async () => {
  const headers = Array.from({ length: 1_400 }, (_, n) => `x${n}:${n}\r\n`).join('');
  for (let host = 50; host < 57; host += 1) {
    const sockets = await openAll(512, `127.0.0.${host}`);
    sockets.forEach((socket, n) => {
      listen(socket);
      // Every other one is complete, and its connection idle after the response.
      socket.write(`GET / HTTP/1.1\r\nhost: x\r\n${headers}${n % 2 === 0 ? '\r\n' : ''}`);
    });
  }
  expect((await service.send(probe.request)).text).toBe(probe.expected);
  expect(await heapBytes()).toBeLessThan(160e6);
});

test('bodies in chunks of one byte are refused after 1,000 of them', async () => {
  const { pid } = service.stack.gateway;
  const sockets = await openAll(30, '127.0.0.40');
  const unit = calibrate() / 10;
  const before = cpuOf(pid);
  for (const socket of sockets) {
    listen(socket);
    socket.write(
      `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${keyOf(service.keys.beta)}\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    socket.write('1\r\n \r\n'.repeat(20_000));
  }
  await until(() => sockets.every(({ received }) => statuses(received).length > 0));
  const cpu = (cpuOf(pid) - before) / unit;
  for (const { received } of sockets) expect(statuses(received)).toEqual(['HTTP/1.1 413']);
  // They took 90 each, where all of their chunks were parsed.
  expect(cpu / 30).toBeLessThan(20);
});

const TOKEN = '/oauth/token';
const postForm = (form: string, headers: string[] = []) =>
  post(form, headers).replace('/graphql', TOKEN).replace('json', 'x-www-form-urlencoded');

/** The status of a page for a client of its own address, and of the provider when it is loaded. */
async function visit(path: string, ...headers: string[]): Promise<string> {
  const socket = await open('127.0.0.64');
  listen(socket);
  const lines = [`GET ${path} HTTP/1.1`, 'host: x', 'connection: close', ...headers, '', ''];
  socket.write(lines.join('\r\n'));
  await once(socket, 'close');
  return socket.received.slice(9, 12);
}
const providerIsLoaded = () => until(async () => (await visit('/sign-in')) === '200');

/**
 * Sends requests on many connections, each again after each response and after each time that it
 * was closed, until `act` has ended. Resolves with how many responses had which status.
 */
async function flooding(
  connections: { address: string; request: string }[],
  act: (seen: Map<string, number>) => Promise<unknown>,
): Promise<Map<string, number>> {
  const { port, hostname: host } = new URL(service.stack.gateway.url);
  const seen = new Map<string, number>();
  let isOver = false;
  function begin({ address, request }: (typeof connections)[number]): void {
    if (isOver) return;
    const socket = connect({ port: Number(port), host, localAddress: address });
    opened.push(socket);
    const send = () => !isOver && socket.write(request);
    socket.setEncoding('latin1').on('error', () => {});
    socket.on('connect', send).on('close', () => begin({ address, request }));
    socket.on('data', (text: string) => {
      for (const line of statuses(text)) {
        seen.set(line.slice(9), (seen.get(line.slice(9)) ?? 0) + 1);
        send();
      }
    });
  }
  for (const connection of connections) begin(connection);
  await act(seen);
  isOver = true;
  return seen;
}

test('1,400 connections of three addresses that ask for tokens with any grant take no page from a fourth one', async () => {
  await providerIsLoaded();
  const forms = [
    ...['', 'grant_type=x', 'client_id=guess&grant_type=client_credentials'],
    'client_id=guess&grant_type=refresh_token&refresh_token=guess',
  ];
  const connections = Array.from({ length: 1_400 }, (_, n) => ({
    address: `127.0.0.${61 + (n % 3)}`,
    request: postForm(forms[n % forms.length] ?? ''),
  }));
  const visits: string[] = [];
  const seen = await flooding(connections, async (seen) => {
    for (const _ of Array(10).keys())
      for (const path of ['/sign-in', '/console', '/.well-known/jwks.json'])
        visits.push(await visit(path));
    await until(() => (seen.get('429') ?? 0) > 1_400);
  });
  expect(new Set(visits)).toEqual(new Set(['200']));
  for (const status of seen.keys()) expect(['400', '401', '408', '429', '503']).toContain(status);
});

test('900 addresses that begin to sign in take no page from a member who is signed in', async () => {
  await providerIsLoaded();
  const { payloads, access } = service.stack.stores.members;
  const [id, uid, memberId] = ['s'.repeat(43), 'u'.repeat(43), 'm-both'];
  const ends = Date.now() + 3_600_000;
  const login = { accountId: memberId, uid, kind: 'Session', loginTs: 1, exp: ends / 1_000 };
  await payloads.put(`Session:${digest(id)}`, login, ends);
  await access.begin(memberId, { sessionId: digest(uid), usedAt: Date.now(), browser: 'x' });
  const session = `cookie: session=${id}`;
  expect(await visit('/account', session)).toBe('200');
  const own = ['origin: null', 'sec-fetch-site: same-origin'];
  const begin = (email: string) => postForm(`email=${email}`, own).replace(TOKEN, '/sign-in');
  const connections = Array.from({ length: 900 }, (_, n) => ({
    address: `127.0.${1 + Math.floor(n / 200)}.${1 + (n % 200)}`,
    request: n % 2 ? 'GET /sign-in HTTP/1.1\r\nhost: x\r\n\r\n' : begin(`flood-${n}@example.com`),
  }));
  const visits: string[] = [];
  await flooding(connections, async (seen) => {
    await until(() => (seen.get('503') ?? 0) > 0);
    for (const _ of Array(10).keys()) visits.push(await visit('/account', session));
  });
  expect(new Set(visits)).toEqual(new Set(['200']));
});

test("a partner's 480 connections with a valid secret at /oauth/token take no look-up from another", async () => {
  await providerIsLoaded();
  const { secret, hash } = makeSecret();
  await service.stack.stores.members.apps.add({
    ...{ clientId: 'app-beta', partnerId: 'beta', name: 'Rooms', secrets: [{ hash }] },
    ...{ redirectUris: ['https://rooms.example/'], origins: [], createdAt: Date.now() },
  });
  const basic = Buffer.from(`app-beta:${secret}`).toString('base64');
  const request = postForm('grant_type=refresh_token&refresh_token=guess', [
    `authorization: Basic ${basic}`,
  ]);
  const connections = Array.from({ length: 480 }, () => ({ address: '127.0.0.65', request }));
  const seen = await flooding(connections, async (seen) => {
    await until(() => seen.size > 0);
    for (let n = 0; n < 100 || (seen.get('400') ?? 0) < connections.length; n += 1)
      expect((await service.send(probe.request)).text).toBe(probe.expected);
  });
  for (const status of seen.keys()) expect(['400', '429', '503']).toContain(status);
});
