// Attacks on what belongs to all, with default settings and little memory: others are served.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
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
