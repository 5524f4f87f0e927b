// Receives webhooks with Fastify and the client: see ../README.md.
import { verifyWebhook, WebhookError } from '@partner-loyalty/client';
import fastify from 'fastify';

const { WEBHOOK_SECRET, PORT = '4030' } = process.env;
if (!WEBHOOK_SECRET) throw new Error('set WEBHOOK_SECRET to the secret of the endpoint: whsec_…');

/** By ID. In yours, a table with the ID as its key: a webhook can come more than once. */
const inbox = new Map();
const app = fastify({ bodyLimit: 65_536 });

// The signature is of the bytes as they arrived, so nothing may parse them.
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request, body) => body);
app.post('/webhooks', async (request, reply) => {
  const webhook = await verifyWebhook(request.body ?? '', request.headers, WEBHOOK_SECRET);
  if (!inbox.has(webhook.id)) {
    inbox.set(webhook.id, webhook);
    setImmediate(work, webhook);
  }
  return reply.code(204).send();
});
app.setErrorHandler((error, _request, reply) => {
  if (!(error instanceof WebhookError)) throw error;
  return reply.code(400).send(error.reason);
});

/** What takes time happens after the response, which the service waits 15 seconds for. */
function work({ type, data }) {
  console.log(type, data.memberId ?? '');
}

const address = await app.listen({ port: Number(PORT), host: '127.0.0.1' });
console.log(`webhooks: ${address}/webhooks`);
