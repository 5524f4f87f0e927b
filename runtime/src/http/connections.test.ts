// Connections over real sockets: one request at a time, and which one goes for a new one.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from '../../../test/support/until.ts';
import { createLog } from '../observe/log.ts';
import type { ConnectionLimits } from './connections.ts';
import { type HttpRequest, SIGNED } from './request.ts';
import type { HttpResponse } from './response.ts';
import { type HttpServer, serveHttp } from './server.ts';

const log = createLog('silent');
const opened: { close?(): unknown; destroy?(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0)) await (each.close?.() ?? each.destroy?.());
});

type Options = { limits?: ConnectionLimits; trustedProxies?: string[] };

async function serve(
  handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
  { limits, trustedProxies = [] }: Options = {},
): Promise<HttpServer> {
  const ports = { port: 0, host: '127.0.0.1' };
  const server = await serveHttp({
    ...ports,
    handle,
    trustedProxies,
    log,
    ...(limits && { limits }),
  });
  opened.push(server);
  return server;
}

type Client = Socket & { received: string };

async function open({ port }: HttpServer, address = '127.0.0.1'): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: address });
  const client = Object.assign(socket.setEncoding('latin1'), { received: '' });
  client
    .on('error', () => {})
    .on('data', (text: string) => {
      client.received += text;
    });
  opened.push(client);
  await once(client, 'connect');
  return client;
}

/** Shows a credential if the request names an owner. */
const ownerIn = ({ headers }: HttpRequest) => headers['x-api-key']?.toString();

const OK: HttpResponse = { status: 200, headers: {}, body: '{}' };
const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
const CHUNKED = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
const post = (body: string, headers = '') =>
  `POST / HTTP/1.1\r\nhost: x\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
const responses = ({ received }: Client) => received.match(/HTTP\/1\.1 \d+/g)?.length ?? 0;

describe('requests of one connection', () => {
  test('are handled one after the other, however many come at once', async () => {
    let running = 0;
    let most = 0;
    const order: string[] = [];
    const server = await serve(async ({ path, body }) => {
      running += 1;
      most = Math.max(most, running);
      order.push(path);
      await new Promise(setImmediate);
      void body;
      running -= 1;
      return OK;
    });
    const client = await open(server);
    const all = Array.from({ length: 500 }, (_, n) => `/${n}`);
    client.write(all.map((path) => GET.replace('/', path)).join(''));
    await until(() => responses(client) === 500);
    expect([most, order]).toEqual([1, all]);
  });

  test('of which thousands come at once are not parsed before they are served', async () => {
    const finish: (() => void)[] = [];
    let begun = 0;
    const server = await serve(async () => {
      begun += 1;
      await new Promise<void>((resolve) => finish.push(resolve));
      return OK;
    });
    const client = await open(server);
    client.write('GET / HTTP/1.0\r\n\r\n'.repeat(3_000));
    await until(() => begun === 1);
    // Another connection is served meanwhile.
    const other = await open(server);
    other.write(GET);
    await until(() => begun === 2);
    expect(begun).toBe(2);
    for (const each of finish) each();
    await until(() => responses(other) === 1);
  });

  test.each([
    ['with a length', post('hello')],
    ['in chunks', `${CHUNKED}5\r\nhello\r\n0\r\n\r\n`],
    ['after empty lines', `\r\n\r\n\r\n\r\n${post('hello')}`],
  ])('%s are told apart wherever they are cut', async (_, text) => {
    const server = await serve(async (request) => ({
      ...OK,
      body: (await request.body(100)).toString(),
    }));
    const both = text + post('world');
    for (let at = 1; at < both.length; at += 7) {
      const client = await open(server);
      client.setNoDelay(true);
      client.write(both.slice(0, at));
      await new Promise((resolve) => setImmediate(resolve));
      client.write(both.slice(at));
      await until(() => responses(client) === 2 && client.received.endsWith('world'));
      expect(client.received).toContain('hello');
      client.destroy();
    }
  });

  test('are told apart behind a chunked body, wherever the head of the next one ends', async () => {
    const server = await serve(async (request) => ({
      ...OK,
      body: request.path + (await request.body(1_000)).toString(),
    }));
    for (let length = 130; length < 200; length += 1) {
      const client = await open(server);
      const named = GET.replace('host: x', `host: ${'x'.repeat(length)}`);
      client.write(`${CHUNKED}5\r\nhello\r\n0\r\n\r\n`);
      client.write(named + GET.replace('/', '/last'));
      await until(() => client.received.endsWith('/last'));
      expect(responses(client)).toBe(3);
      client.destroy();
    }
  });

  test('are told apart if their heads end in a read of its own', async () => {
    const server = await serve(async (request) => ({
      ...OK,
      body: (await request.body(100)).toString(),
    }));
    const first = post('GET / HTTP/1.1 and more');
    const head = first.indexOf('\r\n\r\n') + 3;
    const client = await open(server);
    client.setNoDelay(true);
    for (const part of [first.slice(0, head), first.slice(head, head + 15)]) {
      client.write(part);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    client.write(first.slice(head + 15) + GET);
    await until(() => responses(client) === 2);
    expect(client.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  });

  test('have bodies that are not parsed before the handler asks for them', async () => {
    let ask = () => {};
    const asks = new Promise<void>((resolve) => {
      ask = resolve;
    });
    const server = await serve(async (request) => {
      await asks;
      return { ...OK, body: (await request.body(100)).toString() };
    });
    const client = await open(server);
    client.write(post('first') + post('second'));
    ask();
    await until(() => responses(client) === 2);
    expect(client.received).toMatch(/first[\s\S]*second/);
  });

  test('behind one whose response ends the connection get none', async () => {
    let begun = 0;
    const server = await serve(() => {
      begun += 1;
      return { ...OK, status: 429, closes: true };
    });
    const client = await open(server);
    client.write(post('x'.repeat(1_000)).slice(0, -500));
    await until(() => responses(client) === 1);
    client.write(GET.repeat(100));
    await once(client, 'close');
    expect([responses(client), begun]).toEqual([1, 1]);
    expect(client.received).toContain('connection: close');
  });

  test("of a trusted proxy go on after a response that would end another's connection", async () => {
    const server = await serve(() => ({ ...OK, status: 429, closes: true }), {
      trustedProxies: ['127.0.0.1/32'],
    });
    const client = await open(server);
    client.write(GET.repeat(3));
    await until(() => responses(client) === 3);
    expect(client.received).not.toContain('connection: close');
  });
});

describe('a new connection', () => {
  const handle = async (request: HttpRequest) => {
    await request.admit(ownerIn(request));
    return OK;
  };
  const shows = async (client: Client) => {
    const before = responses(client);
    client.write('GET / HTTP/1.1\r\nhost: x\r\nx-api-key: partner\r\n\r\n');
    await until(() => responses(client) > before);
  };
  const sends = async (client: Client) => {
    client.write(GET);
    await until(() => responses(client) > 0);
  };
  const isClosed = (client: Client) => until(() => client.destroyed);
  const [FLOOD, GUEST, PARTNER] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];

  test('takes the place of the one of its address that is idle longest without a credential', async () => {
    const server = await serve(handle, {
      limits: { maxConnections: 10, maxConnectionsPerAddress: 3 },
    });
    const known = await open(server, PARTNER);
    await shows(known);
    const first = await open(server, PARTNER);
    const second = await open(server, PARTNER);
    await sends(first);
    const third = await open(server, PARTNER);
    await isClosed(second);
    expect([known, first, third].map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
  });

  test('takes no place of another if one of its address has ended', async () => {
    const server = await serve(handle, {
      limits: { maxConnections: 10, maxConnectionsPerAddress: 3 },
    });
    const ends = await open(server, PARTNER);
    const stay = [await open(server, PARTNER), await open(server, PARTNER)];
    ends.destroy();
    // When this is answered, the server has seen the end of the other one.
    for (const client of stay) await sends(client);
    stay.push(await open(server, PARTNER));
    for (const client of stay.slice(2)) await sends(client);
    expect(stay.map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
    await open(server, PARTNER);
    await isClosed(stay[0] as Client);
  });

  test('is closed if all of its address have shown one', async () => {
    const server = await serve(handle, {
      limits: { maxConnections: 10, maxConnectionsPerAddress: 2 },
    });
    const [one, two] = [await open(server, PARTNER), await open(server, PARTNER)];
    await shows(one);
    await shows(two);
    await isClosed(await open(server, PARTNER));
    expect([one.destroyed, two.destroyed]).toEqual([false, false]);
  });

  test('takes the place of one of the address with most, if the process is full', async () => {
    const server = await serve(handle, {
      limits: { maxConnections: 5, maxConnectionsPerAddress: 4 },
    });
    const guest = await open(server, GUEST);
    const flood: Client[] = [];
    for (let n = 0; n < 4; n += 1) flood.push(await open(server, FLOOD));
    const partner = await open(server, PARTNER);
    await shows(partner);
    await until(() => flood[0]?.destroyed === true);
    expect([guest, ...flood.slice(1)].every(({ destroyed }) => !destroyed)).toBe(true);
  });

  test('of an address with few takes the place of an idle one of the caller with most', async () => {
    const server = await serve(handle, {
      limits: { maxConnections: 4, maxConnectionsPerAddress: 4 },
    });
    const many: Client[] = [];
    for (let n = 0; n < 4; n += 1) {
      many.push(await open(server, FLOOD));
      await shows(many[n] as Client);
    }
    await shows(many[0] as Client);
    const partner = await open(server, PARTNER);
    await isClosed(many[1] as Client);
    await shows(partner);
    // Its address has its share now.
    await isClosed(await open(server, FLOOD));
  });

  test('never ends a request that has a credential', async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let running = 0;
    const server = await serve(
      async (request) => {
        await request.admit(ownerIn(request));
        running += 1;
        await finished;
        return OK;
      },
      { limits: { maxConnections: 2, maxConnectionsPerAddress: 2 } },
    );
    const busy = [await open(server, FLOOD), await open(server, FLOOD)];
    for (const client of busy) client.write('GET / HTTP/1.1\r\nhost: x\r\nx-api-key: a\r\n\r\n');
    await until(() => running === 2);
    await isClosed(await open(server, PARTNER));
    finish();
    for (const client of busy) await until(() => responses(client) === 1);
  });

  test("finds trusted proxies' connections closed last", async () => {
    const server = await serve(handle, {
      limits: { maxConnections: 3, maxConnectionsPerAddress: 1 },
      trustedProxies: ['127.0.0.4/32'],
    });
    const proxies = [await open(server, PARTNER), await open(server, PARTNER)];
    const guest = await open(server, GUEST);
    const other = await open(server, FLOOD);
    await isClosed(guest);
    expect([...proxies, other].every(({ destroyed }) => !destroyed)).toBe(true);
  });
});

test('an attack by clients that are gone before their request is counted takes no place of others', async () => {
  let arrived = 0;
  let gone = 0;
  const server = await serve(async (request) => {
    if (request.path === '/gone') {
      arrived += 1;
      await once(request.signal, 'abort');
      gone += 1;
    }
    await request.admit(undefined);
    return OK;
  });
  const clients = await Promise.all(Array.from({ length: 500 }, () => open(server)));
  for (const client of clients) client.write(GET.replace('/', '/gone'));
  await until(() => arrived === 500);
  for (const client of clients) client.destroy();
  await until(() => gone === 500);
  const other = await open(server);
  other.write(GET);
  await until(() => responses(other) === 1);
  expect(other.received).toMatch(/^HTTP\/1.1 200 /);
});

test("half-sent bodies of a gateway's connections have no share", async () => {
  const server = await serve(async (request) => {
    await request.body(1_000_000);
    await request.admit(SIGNED);
    return OK;
  });
  const body = post('x'.repeat(1_000_000));
  const clients: Client[] = [];
  for (let n = 0; n < 20; n += 1) {
    const client = await open(server);
    clients.push(client);
    client.write(post('signed'));
    await until(() => responses(client) === 1);
    client.write(body.slice(0, -1));
  }
  for (const client of clients) client.write('x');
  await until(() => clients.every((client) => responses(client) === 2));
});

describe('half-sent bodies', () => {
  const limits = { maxConnections: 600, maxConnectionsPerAddress: 600 };
  const withBodies = () =>
    serve(
      async (request) => {
        await request.body(1_000_000);
        return OK;
      },
      { limits },
    );
  const half = post('x'.repeat(1_000_000)).slice(0, -1);

  async function openHalf(server: HttpServer, count: number, address: string): Promise<Client[]> {
    const clients = await Promise.all(Array.from({ length: count }, () => open(server, address)));
    for (const client of clients) client.write(half);
    return clients;
  }

  test('of one address take at most 16 MiB', async () => {
    const server = await withBodies();
    const clients = await openHalf(server, 20, '127.0.0.9');
    const other = await open(server);
    other.write(post('whole'));
    await until(() => responses(other) === 1);
    await until(() => clients.filter(({ destroyed }) => destroyed).length >= 3);
  });

  test('that wait behind a response do not end the connections of an address', async () => {
    let answer: () => void = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const server = await serve(
      async (request) => {
        await (request.method === 'GET' ? answered : request.body(1_000_000));
        return OK;
      },
      { limits },
    );
    // They have 18 MB, more than one address may have half-sent.
    const clients = await Promise.all(Array.from({ length: 300 }, () => open(server, '127.0.0.9')));
    for (const client of clients) client.write(GET + post('x'.repeat(60_000)));
    const other = await open(server);
    other.write(post('whole'));
    await until(() => responses(other) === 1);
    answer();
    await until(() => clients.every((client) => responses(client) === 2));
  });

  test('of an address that has less are left alone, however many others have some', async () => {
    const server = await withBodies();
    const others: Client[] = [];
    for (let n = 0; n < 20; n += 1)
      others.push(...(await openHalf(server, 1, `127.0.0.${n + 20}`)));
    const clients = await openHalf(server, 10, '127.0.0.9');
    for (const client of [...clients, ...others]) client.write('x');
    await until(() => [...clients, ...others].every((client) => responses(client) === 1));
  });
});
