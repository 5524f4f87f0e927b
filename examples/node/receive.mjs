// Receives webhooks with Node alone: see ../README.md.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { WEBHOOK_SECRET = '', PORT = '4030' } = process.env;
const KEY = Buffer.from(WEBHOOK_SECRET.replace(/^whsec_/, ''), 'base64');
if (KEY.length === 0) throw new Error('set WEBHOOK_SECRET to the secret of the endpoint: whsec_…');
const MAX_BODY_BYTES = 65_536;
const TOLERANCE_SECONDS = 300;

/** By ID. In yours, a table with the ID as its key: a webhook can come more than once. */
const inbox = new Map();

/** Whether the service has signed the body within 5 minutes of now. */
function isSigned(headers, body) {
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  const age = Date.now() / 1_000 - Number(timestamp);
  if (!/^\d+$/.test(timestamp) || Math.abs(age) > TOLERANCE_SECONDS) return false;
  const expected = createHmac('sha256', KEY).update(`${id}.${timestamp}.`).update(body).digest();
  // While a secret is rotated, there are two.
  return (headers['webhook-signature'] ?? '').split(' ').some((each) => {
    const [version, base64 = ''] = each.split(',');
    const signature = Buffer.from(base64, 'base64');
    return (
      version === 'v1' &&
      signature.length === expected.length &&
      timingSafeEqual(signature, expected)
    );
  });
}

/** The bytes as they arrived, since the signature is of these. Undefined if they are too many. */
async function bodyOf(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The status of the response. */
function receive({ method, url, headers }, body) {
  if (method !== 'POST' || url !== '/webhooks') return 404;
  if (body === undefined) return 413;
  if (!isSigned(headers, body)) return 400;
  const id = headers['webhook-id'];
  if (!inbox.has(id)) {
    const webhook = JSON.parse(body);
    inbox.set(id, webhook);
    setImmediate(work, webhook);
  }
  return 204;
}

/** What takes time happens after the response, which the service waits 15 seconds for. */
function work({ type, data }) {
  console.log(type, data.memberId ?? '');
}

const server = createServer(async (request, response) => {
  try {
    const status = receive(request, await bodyOf(request));
    response.writeHead(status, status === 413 ? { connection: 'close' } : {}).end();
  } catch (error) {
    console.error(error.message);
    response.writeHead(500).end();
  }
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`webhooks: http://127.0.0.1:${server.address().port}/webhooks`);
});
