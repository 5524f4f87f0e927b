// Limits on mail, across two processes of the service on one MongoDB and one Redis.

import { freshMongodbUrl, redisUrl } from '../support/servers/databases.ts';
import { type MailServer, startMailServer } from '../support/servers/mailserver.ts';
import { createClient } from '../support/service/client.ts';
import { REQUEST } from '../support/service/mailbox.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

const MINUTES_15 = 15 * 60_000;

let server: MailServer;
let database: ReturnType<typeof freshMongodbUrl>;
let service: DeployedService;
let gateways: ReturnType<typeof createClient>[];

beforeAll(async () => {
  server = await startMailServer();
  database = freshMongodbUrl();
  // Each of the two processes contains everything, so both accept requests and send mail.
  service = await startDeployed('one process', {
    MONGODB_URL: database.url,
    REDIS_URL: redisUrl(),
    SMTP_URL: server.url,
  });
  const second = await service.stack.addGateway();
  gateways = [service.send, createClient(second.url, service.keys.alpha)];
});
afterAll(async () => {
  await service?.close();
  await database.drop();
  await server.down();
});

const sentTo = (address: string) =>
  server.mails.filter(({ recipients }) => recipients[0]?.toLowerCase() === address);

/** Requests magic links, from the gateways in turn. */
async function requestLinks(times: number, email: string, key?: string): Promise<void> {
  for (let index = 0; index < times; index += 1) {
    const response = await gateways[index % gateways.length]?.({
      query: REQUEST,
      variables: { email },
      key,
    });
    expect(response?.text).toBe('{"data":{"requestMagicLink":{"accepted":true}}}');
  }
}

/** Waits until all emails requested so far are sent, by sending one more from each gateway. */
async function sent(key: string): Promise<void> {
  const before = sentTo('frugal@example.com').length;
  await requestLinks(2, 'frugal@example.com', key);
  await until(() => sentTo('frugal@example.com').length >= before + 2);
}

test('a partner can send a member five emails in 15 minutes, through all addresses and gateways together', async () => {
  await requestLinks(8, 'both@example.com');
  await requestLinks(8, 'both.earlier@example.net');
  await until(() => sentTo('both@example.com').length >= 5);
  await sent(service.keys.frugal);
  expect(sentTo('both@example.com')).toHaveLength(5);
  await requestLinks(1, 'both@example.com', service.keys.beta);
  await until(() => sentTo('both@example.com').length === 6);
});

test('a partner can send a thousand emails in 15 minutes, through all gateways together', async () => {
  const { outbox } = service.stack.stores.members;
  // As if the partner had sent 998 emails already.
  const limit = { key: 'partner\ngamma', count: 1_000, windowMs: MINUTES_15 };
  for (let mail = 0; mail < 998; mail += 1) await outbox.admit(limit, Date.now());
  await requestLinks(4, 'ended@example.com', service.keys.gamma);
  await until(() => sentTo('ended@example.com').length >= 2);
  await sent(service.keys.frugal);
  expect(sentTo('ended@example.com')).toHaveLength(2);
});
