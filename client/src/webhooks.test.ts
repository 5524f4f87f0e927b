// The verifier agrees with the signer and verifier that the Standard Webhooks specification ships.
import { inspect } from 'node:util';
import { Webhook as Standard } from 'standardwebhooks';
import { verifyWebhook, WebhookError } from './webhooks.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const DATA = { memberId: 'm-1', points: 40, externalId: 'Zoë' };
const BODY = JSON.stringify({
  type: 'POINTS_CHANGED',
  timestamp: '2026-11-25T12:00:00.000Z',
  data: DATA,
});
const NOW = Math.floor(Date.now() / 1_000);

type Sent = { body: string; headers: Record<string, string> };

/** A request that the standard signer signs. */
function sign({ body = BODY, id = 'evt_1', timestamp = NOW, secret = SECRET } = {}): Sent {
  const signature = new Standard(secret).sign(id, new Date(timestamp * 1_000), body);
  return {
    body,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': `${timestamp}`,
      'webhook-signature': signature,
    },
  };
}
const SIGNED = sign();
const SIGNATURE = SIGNED.headers['webhook-signature'] ?? '';
const changed = (headers: Record<string, string>) => ({
  headers: { ...SIGNED.headers, ...headers },
});
const without = (name: string) => {
  const { [name]: _, ...headers } = SIGNED.headers;
  return { headers };
};

test.each<[string, Partial<Sent>]>([
  ['one signature', {}],
  [
    'a signature by the old secret before that by the new one',
    changed({
      'webhook-signature': `${sign({ secret: OTHER }).headers['webhook-signature']} ${SIGNATURE}`,
    }),
  ],
  [
    'signatures of other versions',
    changed({ 'webhook-signature': `v1a,${'A'.repeat(86)}== ${SIGNATURE} v2,` }),
  ],
  ['a signature that is no Base64', changed({ 'webhook-signature': `v1,* v1, ${SIGNATURE}` })],
  [
    'names in capitals',
    {
      headers: Object.fromEntries(
        Object.entries(SIGNED.headers).map(([name, value]) => [name.toUpperCase(), value]),
      ),
    },
  ],
  ['a time of 4 minutes ago', sign({ timestamp: NOW - 240 })],
  ['a time almost 5 minutes ahead', sign({ timestamp: NOW + 299 })],
])('accepted, as by the standard verifier: %s', async (_, change) => {
  const { body, headers } = { ...SIGNED, ...change };
  expect(new Standard(SECRET).verify(body, headers)).toEqual(JSON.parse(BODY));
  const expected = { id: 'evt_1', ...JSON.parse(BODY) };
  for (const form of [body, Buffer.from(body), new TextEncoder().encode(body)])
    for (const each of [headers, new Headers(headers)])
      expect(await verifyWebhook(form, each, SECRET)).toEqual(expected);
});

test.each<[string, WebhookError['reason'], Partial<Sent>]>([
  ['no ID', 'HEADERS', without('webhook-id')],
  ['no time', 'HEADERS', without('webhook-timestamp')],
  ['no signature', 'HEADERS', without('webhook-signature')],
  ['an empty ID', 'HEADERS', changed({ 'webhook-id': '' })],
  ['a replay after 5 minutes', 'TIMESTAMP', sign({ timestamp: NOW - 302 })],
  ['a time beyond 5 minutes', 'TIMESTAMP', sign({ timestamp: NOW + 360 })],
  ['a time that is no number', 'TIMESTAMP', changed({ 'webhook-timestamp': 'now' })],
  ['a replay with a new time', 'SIGNATURE', changed({ 'webhook-timestamp': `${NOW - 1}` })],
  ['a replay with a new ID', 'SIGNATURE', changed({ 'webhook-id': 'evt_2' })],
  ['a changed body', 'SIGNATURE', { body: BODY.replace('40', '99') }],
  [
    'a body that was parsed and printed again',
    'SIGNATURE',
    { body: JSON.stringify(JSON.parse(BODY), null, 1) },
  ],
  ['another secret', 'SIGNATURE', sign({ secret: OTHER })],
  [
    'a signature called v2',
    'SIGNATURE',
    changed({ 'webhook-signature': SIGNATURE.replace('v1', 'v2') }),
  ],
  [
    'a signature that is cut short',
    'SIGNATURE',
    changed({ 'webhook-signature': SIGNATURE.slice(0, -2) }),
  ],
  ['commas between signatures', 'SIGNATURE', changed({ 'webhook-signature': `v1,A,${SIGNATURE}` })],
])('refused, as by the standard verifier: %s', async (_, reason, change) => {
  const { body, headers } = { ...SIGNED, ...change };
  expect(() => new Standard(SECRET).verify(body, headers)).toThrow();
  const error = await verifyWebhook(body, headers, SECRET).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WebhookError);
  expect(error).toMatchObject({ name: 'WebhookError', reason });
  expect(inspect(error)).not.toContain(SECRET.slice(6));
});

test('the message of a test, which has no data, is accepted', async () => {
  const body = JSON.stringify({ type: 'TEST', timestamp: '2026-11-25T12:00:00.000Z', data: {} });
  const { headers } = sign({ body });
  expect(await verifyWebhook(body, headers, SECRET)).toMatchObject({ type: 'TEST', data: {} });
});

test('a header cannot make it check a thousand signatures', async () => {
  const many = Array(1_000).fill(`v1,${'A'.repeat(43)}=`);
  const { headers } = changed({ 'webhook-signature': [...many, SIGNATURE].join(' ') });
  const checks = verifyWebhook(BODY, headers, SECRET);
  await expect(checks).rejects.toMatchObject({ reason: 'SIGNATURE' });
});

test.each(['', 'whsec_', 'whsec_*', SECRET.slice(6), `${undefined}`, 'pk_test_1'])(
  'a TypeError, which does not repeat it, for the secret %j',
  async (secret) => {
    const refused = verifyWebhook(BODY, SIGNED.headers, secret);
    const message = 'secret must be the secret of a webhook endpoint: whsec_…';
    await expect(refused).rejects.toThrow(new TypeError(message));
  },
);

test('a TypeError for a body that was parsed already', async () => {
  // Cast: JavaScript can pass it.
  const parsed = JSON.parse(BODY) as string;
  await expect(verifyWebhook(parsed, SIGNED.headers, SECRET)).rejects.toThrow(TypeError);
});
