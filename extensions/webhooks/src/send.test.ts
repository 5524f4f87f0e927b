// Messages as receivers get them, and which URLs they may go to.
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import {
  type Received,
  type Receiver,
  startReceiver,
} from '../../../test/support/servers/receiver.ts';
import { answerIn, createSender } from './send.ts';
import { createWebhookSecrets, urlFault } from './target.ts';

const open = createWebhookSecrets({ environment: 'sandbox', keyEncryptionKey: undefined });
const sealed = createWebhookSecrets({
  environment: 'production',
  keyEncryptionKey: randomBytes(32).toString('base64'),
});
const MESSAGE = {
  id: 'event-1',
  type: 'TIER_CHANGED',
  timestamp: new Date('2026-03-04T05:06:07.089Z'),
  data: { id: 'event-1', type: 'TIER_CHANGED', tierAfter: 'Gold ✨' },
};
const DAY = 86_400_000;

test('an answer is 200 characters of a line that alters nothing around it', () => {
  const ids = { externalId: 'guest-7', activityId: 'a-1' };
  expect(answerIn('  <b>no\r\n\tsuch</b>\u0000\u001b[2J\u202e\u2028 guest ', ids)).toBe(
    '<b>no such</b>[2J guest',
  );
  expect(answerIn('😀'.repeat(300), ids)).toBe('😀'.repeat(200));
  expect(answerIn(' \n', ids)).toBeUndefined();
  // An erasure would not find them.
  expect(answerIn(`${' '.repeat(300)}unknown: guest-7`, ids)).toBeUndefined();
  expect(answerIn('{"activity":"a-1"}', ids)).toBeUndefined();
});

describe('a message', () => {
  let receiver: Receiver;
  let closing: (() => unknown)[];
  let url: string;

  beforeEach(async () => {
    receiver = await startReceiver(() => 200);
    url = `${receiver.url}/hooks`;
    closing = [receiver.close];
  });
  afterEach(async () => {
    for (const close of closing) await close();
  });

  const sender = (
    webhookPrivate: 'on' | 'off' = 'on',
    secrets: Pick<typeof open, 'unseal'> = open,
  ) => {
    const { send, close } = createSender({ webhookPrivate, host: '127.0.0.1' }, secrets);
    closing.unshift(close);
    return (of: { sealed: string; until?: number }[], target = url, now = Date.now()) =>
      send({ url: target, secrets: of }, MESSAGE, { signal: new AbortController().signal, now });
  };
  const verify = (
    secret: string,
    { body, headers }: Pick<Received, 'body' | 'headers'> = receiver.received[0] ?? {
      body: '',
      headers: {},
    },
  ) => new Webhook(secret).verify(body, headers as Record<string, string>);

  test('is accepted by a stock verifier, and has type, timestamp and data', async () => {
    const { secret, sealed: stored } = await open.create();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await sender()([{ sealed: stored }])).toEqual({
      ok: true,
      status: 200,
      durationMs: expect.any(Number),
    });
    expect(verify(secret)).toEqual({
      type: 'TIER_CHANGED',
      timestamp: '2026-03-04T05:06:07.089Z',
      data: MESSAGE.data,
    });
    expect(receiver.received[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': 'event-1',
    });
    const other = await open.create();
    expect(() => verify(other.secret)).toThrow('No matching signature');
  });

  test('is signed with the current secret and, for as long as it overlaps, with the former one', async () => {
    const [current, former] = [await open.create(), await open.create()];
    const now = Date.now();
    const secrets = [{ sealed: current.sealed }, { sealed: former.sealed, until: now + DAY }];
    const send = sender();
    await send(secrets, url, now);
    for (const { secret } of [current, former]) verify(secret);
    await send([{ sealed: current.sealed }, { sealed: former.sealed, until: now }], url, now);
    verify(current.secret, receiver.received[1]);
    expect(() => verify(former.secret, receiver.received[1])).toThrow('No matching signature');
  });

  test('is signed with a secret that is encrypted in the store', async () => {
    const { secret, sealed: stored } = await sealed.create();
    expect(stored).not.toContain(secret.slice(6));
    await sender('on', sealed)([{ sealed: stored }]);
    verify(secret);
  });

  test('is not sent unsigned if the secret cannot be decrypted', async () => {
    const { sealed: stored } = await sealed.create();
    expect(await sender('on', open)([{ sealed: stored }])).toMatchObject({
      ok: false,
      reason: 'SECRET',
    });
    expect(receiver.received).toEqual([]);
  });

  test.each([
    [204, { ok: true, status: 204 }],
    [299, { ok: true, status: 299 }],
    [302, { ok: false, status: 302, reason: 'STATUS' }],
    [410, { ok: false, status: 410, reason: 'STATUS' }],
    [500, { ok: false, status: 500, reason: 'STATUS' }],
  ])('that is answered with %s', async (answer, expected) => {
    receiver.respond = () => answer;
    const { sealed: stored } = await open.create();
    expect(await sender()([{ sealed: stored }])).toEqual({
      ...expected,
      durationMs: expect.any(Number),
    });
  });

  test('goes nowhere that WEBHOOK_PRIVATE no longer allows', async () => {
    const { sealed: stored } = await open.create();
    const send = sender('off');
    for (const target of [
      url,
      url.replace('http:', 'https:'),
      url.replace('127.0.0.1', 'localhost'),
    ])
      expect(await send([{ sealed: stored }], target)).toMatchObject({ reason: 'ADDRESS' });
    expect(receiver.received).toEqual([]);
  });
});

describe('the URL of an endpoint', () => {
  const faultOf = (url: string, isPrivate = false) =>
    urlFault(url, { webhookPrivate: isPrivate ? 'on' : 'off' });

  test.each([
    ['https://hooks.example:8443/loyalty?tenant=1', undefined],
    ['https://[2606:4700::1111]/', undefined],
    ['http://hooks.example/', expect.any(String)],
    ['https://2130706433/', expect.any(String)],
  ])('%s is refused, or with WEBHOOK_PRIVATE allowed at least', (url, fault) => {
    expect([faultOf(url), faultOf(url, true)]).toEqual([fault, undefined]);
  });

  test.each([
    ['user info', 'https://user:password@hooks.example/'],
    ['user info that looks like the host', 'https://hooks.example@127.0.0.1/'],
    ['a metadata address', 'https://[::ffff:169.254.169.254]/'],
    ['another scheme', 'ftp://hooks.example/'],
    ['another scheme', 'javascript:alert(1)'],
    ['no URL', 'hooks.example'],
    ['a fragment', 'https://hooks.example/#a'],
    ['an escape sequence for the terminal of whoever lists it', 'https://hooks.example/\u001b[2J'],
    ['a line break', 'https://hooks.example/\nwh_forged'],
    ['text that is read backwards', 'https://hooks.example/\u202egnp.exe'],
    ['too many characters', `https://hooks.example/${'a'.repeat(2_048)}`],
  ])('never has %s: %s', (_, url) => {
    expect([faultOf(url), faultOf(url, true)]).toEqual([expect.any(String), expect.any(String)]);
  });
});
