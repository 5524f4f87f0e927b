// Receives webhooks with Express and the client: see ../README.md.
import { verifyWebhook, WebhookError } from '@partner-loyalty/client';
import express from 'express';

const { WEBHOOK_SECRET, PORT = '4030' } = process.env;
if (!WEBHOOK_SECRET) throw new Error('set WEBHOOK_SECRET to the secret of the endpoint: whsec_…');

/** By ID. In yours, a table with the ID as its key: a webhook can come more than once. */
const inbox = new Map();
const app = express();

// The signature is of the bytes as they arrived, so no express.json() may come before this.
const raw = express.raw({ type: () => true, limit: '64kb' });
app.post('/webhooks', raw, async (request, response) => {
  const webhook = await verifyWebhook(request.body ?? '', request.headers, WEBHOOK_SECRET);
  if (!inbox.has(webhook.id)) {
    inbox.set(webhook.id, webhook);
    setImmediate(work, webhook);
  }
  response.sendStatus(204);
});
app.use((error, _request, response, next) => {
  if (error instanceof WebhookError) response.status(400).send(error.reason);
  else next(error);
});

/** What takes time happens after the response, which the service waits 15 seconds for. */
function work({ type, data }) {
  console.log(type, data.memberId ?? '');
}

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`webhooks: http://127.0.0.1:${server.address().port}/webhooks`);
});
