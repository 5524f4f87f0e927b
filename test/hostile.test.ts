// Bad input of every kind at the running service: each is refused or answered, and all the while others are answered as ever.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Answer, Ask } from './cases/client.ts';
import { ALL_TRUE, HURTING } from './cases/hurt.ts';
import { faultsOf } from './cases/leaks.ts';
import { type Started, startFilled } from './cases/started.ts';

const READ = 'query ($email: String!) { memberByEmail(email: $email) { memberId email firstName lastName tier points } }';
const BY_ID = 'query ($externalId: String!) { memberByExternalId(externalId: $externalId) { memberId } }';
const HEARTBEAT = { query: READ, variables: { email: 'both@example.com' }, requestId: 'heartbeat' };
/** Beyond this a service hangs. */
const PATIENCE_MS = 10_000;

let service: Started;
let alive: string;

beforeAll(async () => {
  service = await startFilled('in one process', { RATE_LIMIT_BUDGET: '1000000' });
  alive = (await service.ask(HEARTBEAT)).text;
  expect(alive).toContain('"memberId":"m-both"');
});
afterAll(() => service.close());

/** Does something harmful while another caller is served; fails where that one is not, or hears something else than before. */
async function whileOthersAreServed<T>(harm: () => Promise<T>): Promise<T> {
  let done = false;
  const others = (async () => {
    do {
      const { text } = await patiently(service.ask(HEARTBEAT));
      expect(text).toBe(alive);
    } while (!done);
  })();
  try {
    return await patiently(harm());
  } finally {
    done = true;
    await others;
  }
}

async function patiently<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the service does not answer')), PATIENCE_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** Asks, and checks what holds for every answer. */
async function ask(what: Ask): Promise<Answer> {
  const answer = await whileOthersAreServed(() => service.ask(what));
  expect(answer.status).toBeLessThan(500);
  expect(faultsOf(answer.text.replaceAll(JSON.stringify(what.query ?? '').slice(1, -1), ''))).toEqual([]);
  return answer;
}

const json = (text: string) => ask({ body: text });
const quoted = (text: string) => JSON.stringify(text);

describe('a document built to hurt is refused or answered', () => {
  test.each(Object.keys(HURTING))('%s', async (name) => {
    const query = HURTING[name];
    // Twice, since a document is treated otherwise once it is known.
    for (const round of ['', ' ']) {
      const { status, code } = await ask({ query: `${query}${round}`, variables: ALL_TRUE });
      expect([200, 400]).toContain(status);
      if (status === 400)
        expect(['OPERATION_TOO_COMPLEX', 'GRAPHQL_VALIDATION_FAILED', 'GRAPHQL_PARSE_FAILED', 'BAD_REQUEST']).toContain(code);
    }
  });

  test('all of them at once', async () => {
    const answers = await whileOthersAreServed(() =>
      Promise.all(Object.values(HURTING).map((query) => service.ask({ query, variables: ALL_TRUE }))),
    );
    for (const { status } of answers) expect([200, 400]).toContain(status);
  });

  test('documents without an end, each a new one', async () => {
    await whileOthersAreServed(async () => {
      for (const round of Array(8).keys()) {
        const many = Array.from({ length: 25 }, (_, n) =>
          service.ask({ query: `{ a${round}x${n}: memberByEmail(email: "x${n}") { tier } }` }),
        );
        for (const { code } of await Promise.all(many)) expect(code).toBe('MEMBER_NOT_FOUND');
      }
    });
  });
});

describe('JSON', () => {
  test.each([
    ['malformed', '{"query": }'],
    ['cut short', '{"query":"{ __typ'],
    ['followed by more', '{"query":"{ __typename }"} {}'],
    ['a byte order mark', '\ufeff{"query":"{ __typename }"}'],
    ['comments', '{"query":"{ __typename }" /* hm */}'],
    ['single quotes', "{'query':'{ __typename }'}"],
    ['raw control characters', '{"query":"{ \u0001 }"}'],
    ['a raw NUL byte', '{"query":"{ \u0000 }"}'],
    ['a bad escape', '{"query":"\\x41"}'],
    ['30,000 lists in one another, cut short', '['.repeat(60_000)],
    ['a number', '12'],
    ['NaN', 'NaN'],
    ['an empty body', ''],
    ['spaces', ' '.repeat(1_000)],
  ])('%s is refused', async (_, text) => {
    const { status, code } = await json(text);
    expect([status, code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('of two equal keys the last one counts, and nothing of the first', async () => {
    const { body } = await json(
      `{"query":"{ nothing }","variables":[],"query":${quoted(READ)},"variables":{"email":"a","email":"both@example.com"}}`,
    );
    expect(body.data).toMatchObject({ memberByEmail: { memberId: 'm-both' } });
  });

  test.each([
    ['lists', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
    ['objects', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`],
    ['a list of 30,000', `[${'1,'.repeat(30_000)}1]`],
    ['an object', '{}'],
    ['a number', '12'],
    ['a number beyond all numbers', '1e999'],
    ['true', 'true'],
    ['null', 'null'],
  ])('a variable that is no string is refused: %s', async (_, value) => {
    const { status, code } = await json(`{"query":${quoted(READ)},"variables":{"email":${value}}}`);
    expect([status, code]).toEqual([400, 'BAD_USER_INPUT']);
  });

  test('null for a variable whose default let it stand where null may not is refused', async () => {
    const documents = [
      'query ($v: String = "both@example.com") { memberByEmail(email: $v) { tier } }',
      'query ($v: Boolean = true) { memberByEmail(email: "both@example.com") { tier @include(if: $v) } }',
      'query ($v: String = "Query") { __type(name: $v) { name } }',
      'mutation ($v: String = "both@example.com") { enrollMember(input: { email: $v }) { created } }',
    ];
    for (const query of documents) {
      for (const _ of [1, 2, 3]) {
        const { status, code } = await ask({ query, variables: { v: null } });
        expect([status, code]).toEqual([400, 'BAD_USER_INPUT']);
        expect((await ask({ query })).status).toBe(200);
      }
    }
  });
});

describe('a text', () => {
  test.each([
    ['over-long', 'x'.repeat(60_000)],
    ['over-long in two bytes each', 'é'.repeat(30_000)],
    ['over-long of emoji', '😀'.repeat(15_000)],
    ['over-long of spaces within', `a${' '.repeat(60_000)}b`],
    ['over-long of combining marks', `a${'\u0301'.repeat(25_000)}`],
    ['a NUL byte', 'a\u0000b'],
    ['a NUL byte in front', '\u0000'],
    ['a line break', 'a\nb'],
    ['DEL', 'a\u007fb'],
    ['a C1 control character', 'a\u0085b'],
    ['a lone high surrogate', 'a\ud83d'],
    ['a lone low surrogate', '\ude00a'],
    ['surrogates in the wrong order', '\ude00\ud83d'],
  ])('%s is refused as an address, as an external ID and as a name', async (_, text) => {
    for (const [query, variables] of [
      [READ, { email: `${text}@example.com` }],
      [BY_ID, { externalId: text }],
      [
        'mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created } }',
        { input: { email: 'a@example.com', lastName: text } },
      ],
      ['mutation ($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }', { memberId: text }],
    ] as const) {
      const { status, code } = await ask({ query, variables });
      expect([status, code]).toEqual([200, 'BAD_USER_INPUT']);
    }
    expect((await ask({ query: READ, variables: { email: 'a@example.com' } })).code).toBe('MEMBER_NOT_FOUND');
  });

  test.each([
    '{"$gt":""}',
    '$where: 1',
    "' OR 1=1 --",
    '../../etc/passwd',
    '%00',
    '%F0%9F',
    '#{7*7}',
    '{{7*7}}',
    '<script>alert(1)</script>',
    '\u202egnp.exe',
    '\ufeff',
    '\uffff',
    'ﷺ'.repeat(80),
    'İ',
    'ß',
  ])('that means something elsewhere is only a text here: %s', async (text) => {
    for (const [query, variables] of [
      [READ, { email: text }],
      [READ, { email: `${text}@example.com` }],
      [BY_ID, { externalId: text }],
    ] as const) {
      const { status, code } = await ask({ query, variables });
      expect(status).toBe(200);
      expect(['MEMBER_NOT_FOUND', 'BAD_USER_INPUT']).toContain(code);
    }
  });
});

describe('a name that objects have of themselves', () => {
  const NAMES = [
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'valueOf',
    'then',
    'toJSON',
    '__defineGetter__',
    'length',
  ];

  test.each(NAMES)('%s is an alias like any other', async (name) => {
    for (const _ of [1, 2, 3]) {
      const { text } = await ask({ query: `{ ${name}: memberByEmail(email: "both@example.com") { ${name}: memberId tier } }` });
      expect(text).toBe(`{"data":{"${name}":{"${name}":"m-both","tier":"Silver"}}}`);
    }
  });

  test.each(NAMES)('%s is a variable, a fragment and an operation like any other', async (name) => {
    const query = `query ${name}($${name}: String!) { memberByEmail(email: $${name}) { ...${name} } } fragment ${name} on PartnerMemberRead { memberId }`;
    for (const _ of [1, 2, 3]) {
      const { text } = await json(`{"query":${quoted(query)},"operationName":"${name}","variables":{"${name}":"both@example.com"}}`);
      expect(text).toBe('{"data":{"memberByEmail":{"memberId":"m-both"}}}');
    }
  });

  test.each(NAMES)('%s adds nothing to the body, the variables or an input object', async (name) => {
    expect((await json(`{"${name}":{"query":"{ __typename }"}}`)).code).toBe('BAD_REQUEST');
    expect((await json(`{"query":${quoted(READ)},"variables":{"${name}":{"email":"both@example.com"}}}`)).code).toBe('BAD_USER_INPUT');
    const enroll = 'mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created } }';
    const input = `{"email":"polluted@example.com","${name}":{"externalId":"polluted"}}`;
    expect((await json(`{"query":${quoted(enroll)},"variables":{"input":${input}}}`)).code).toBe('BAD_USER_INPUT');
    expect((await ask({ query: BY_ID, variables: { externalId: name } })).code).toBe('MEMBER_NOT_FOUND');
  });

  test('merged into a profile reaches no other object', async () => {
    const token = await service.provider.issue('m-both');
    const query = `query ($id: ID!) { memberProfile(id: $id) {
      __proto__: membershipYearStats { polluted: akinPoints } constructor: partnerStandings { prototype: points } } }`;
    for (const _ of [1, 2]) {
      const { text } = await ask({ query, variables: { id: 'm-both' }, token });
      expect(text).toBe('{"data":{"memberProfile":{"__proto__":{"polluted":950},"constructor":[{"prototype":250},{"prototype":700}]}}}');
    }
    const { text } = await ask({ query: '{ memberByEmail(email: "both@example.com") { memberId } }' });
    expect(text).not.toContain('polluted');
  });
});

describe('the connection', () => {
  const head = (length: number | string) =>
    `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-partner-api-key: ${service.keys.alpha}\r\n${length}\r\n`;
  const lengthOf = (length: number) => head(`content-length: ${length}\r\n`);
  const chunked = () => head('transfer-encoding: chunked\r\n');

  function dial(): Socket {
    const { hostname, port } = new URL(service.stack.gateway.url);
    return connect(Number(port), hostname)
      .setEncoding('utf8')
      .on('error', () => undefined);
  }

  /** Sends, and gives what comes back until the service ends the connection. */
  async function talk(sent: string): Promise<string> {
    const socket = dial();
    let answer = '';
    socket.on('data', (part) => {
      answer += part;
    });
    socket.write(sent);
    await once(socket, 'close');
    return answer;
  }

  test.each([
    ['garbage', () => 'hello\r\n\r\n', 400],
    ['TLS', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['headers without an end', () => `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(20_000)}`, 431],
    ['a key of 20,000 letters', () => `POST /graphql HTTP/1.1\r\nhost: x\r\nx-partner-api-key: ${'k'.repeat(20_000)}\r\n\r\n`, 431],
    ['two lengths', () => `${lengthOf(1).trimEnd()}\r\ncontent-length: 2\r\n\r\nx`, 400],
    ['a length and chunks', () => `${lengthOf(1).trimEnd()}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['a chunk that is none', () => `${chunked()}xyz\r\n`, 400],
    ['a negative length', () => head('content-length: -1\r\n'), 400],
  ])('%s is refused in JSON, with a request id', async (_, sent, status) => {
    const answer = await whileOthersAreServed(() => talk(sent()));
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const [, id] = /\r\nx-request-id: (\S+)\r\n/.exec(answer) ?? [];
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({
      errors: [{ message: expect.any(String), extensions: { code: 'BAD_REQUEST', requestId: id } }],
    });
    expect(faultsOf(answer)).toEqual([]);
  });

  test.each(['CONNECT', 'TRACE', 'M-SEARCH'])('%s gets 405', async (method) => {
    const answer = await whileOthersAreServed(() => talk(`${method} /graphql HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`));
    expect(answer).toMatch(/^HTTP\/1.1 405 [\s\S]+METHOD_NOT_ALLOWED/);
  });

  test('a body too large in chunks is refused as soon as that is known', async () => {
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    const socket = dial();
    socket.write(chunked() + chunk.repeat(3));
    const [answer] = await whileOthersAreServed(() => once(socket, 'data'));
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    socket.destroy();
  });

  test('a hundred bodies that never end hold up nobody', async () => {
    const sockets = Array.from({ length: 100 }, () => {
      const socket = dial();
      socket.write(`${lengthOf(1_000)}{"query":"`);
      return socket;
    });
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    await whileOthersAreServed(async () => {
      for (const socket of sockets) socket.write(' ');
      for (const _ of Array(20).keys()) expect((await service.ask(HEARTBEAT)).text).toBe(alive);
    });
    for (const socket of sockets) socket.destroy();
  });

  test('callers who leave before they are answered hold up nobody', async () => {
    await whileOthersAreServed(async () => {
      for (const _ of Array(100).keys()) {
        const body = JSON.stringify({ query: READ, variables: { email: 'both@example.com' } });
        const socket = dial();
        socket.write(lengthOf(body.length) + body);
        await once(socket, 'connect');
        socket.destroy();
      }
    });
  });

  test('a request that comes byte by byte is answered', async () => {
    const body = JSON.stringify(HEARTBEAT);
    const socket = dial();
    const answered = once(socket, 'data');
    for (const byte of lengthOf(Buffer.byteLength(body)) + body) socket.write(byte);
    const [answer] = await whileOthersAreServed(() => answered);
    expect(answer).toContain('"memberId":"m-both"');
    socket.destroy();
  });

  test('requests sent on without waiting are answered in their order', async () => {
    const bodies = ['both', 'alpha.only', 'unknown', 'both'].map((local) =>
      JSON.stringify({ query: READ, variables: { email: `${local}@example.com` } }),
    );
    const sent = bodies.map(
      (body, index) =>
        `${lengthOf(body.length).trimEnd()}\r\nx-request-id: r${index}${index === 3 ? '\r\nconnection: close' : ''}\r\n\r\n${body}`,
    );
    const answer = await whileOthersAreServed(() => talk(sent.join('')));
    expect(
      [...answer.matchAll(/x-request-id: (\S+)|"memberId":"(\S+?)"|"code":"(\S+?)"/g)].map(([, id, member, code]) => id ?? member ?? code),
    ).toEqual(['r0', 'm-both', 'r1', 'm-alpha', 'r2', 'MEMBER_NOT_FOUND', 'r3', 'm-both']);
  });
});

test('after all of it the service writes nothing about errors, and answers as before', async () => {
  expect((await service.ask(HEARTBEAT)).text).toBe(alive);
  await service.stack.gateway.stop();
  expect(service.stack.gateway.output()).not.toMatch(/"level":"(error|fatal)"/);
});
