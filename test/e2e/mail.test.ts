// Limits on mail, over several processes of the service on one MongoDB and one Redis.

import { freshMongodbUrl, redisUrl } from '../support/servers/databases.ts';
import { type MailServer, startMailServer } from '../support/servers/mailserver.ts';
import { createClient } from '../support/service/client.ts';
import { type Started, startFilled } from '../support/service/deployed.ts';
import { REQUEST } from '../support/service/mailbox.ts';
import { until } from '../support/until.ts';

const MINUTES_15 = 15 * 60_000;

let server: MailServer;
let database: ReturnType<typeof freshMongodbUrl>;
let started: Started;
let gateways: ReturnType<typeof createClient>[];

beforeAll(async () => {
  server = await startMailServer();
  database = freshMongodbUrl();
  // Everything in one process, twice: both take requests, and both send mail.
  started = await startFilled('in one process', {
    MONGODB_URL: database.url,
    REDIS_URL: redisUrl(),
    SMTP_URL: server.url,
  });
  const second = await started.stack.addGateway();
  gateways = [started.ask, createClient(second.url, started.keys.alpha)];
}, 60_000);
afterAll(async () => {
  await started?.close();
  await database.drop();
  await server.down();
});

const sentTo = (address: string) =>
  server.mails.filter(({ recipients }) => recipients[0] === address);

/** Asks one gateway after the other. */
async function askInTurn(times: number, email: string, key?: string): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) {
    const answer = await gateways[turn % gateways.length]?.({
      query: REQUEST,
      variables: { email },
      key,
    });
    expect(answer?.text).toBe('{"data":{"requestMagicLink":{"accepted":true}}}');
  }
}

/** Waits for letters that were asked for after all others, one from each gateway. */
async function settled(key: string): Promise<void> {
  const before = sentTo('frugal@example.com').length;
  await askInTurn(2, 'frugal@example.com', key);
  await until(() => sentTo('frugal@example.com').length >= before + 2);
}

test('five letters of one partner to one member in 15 minutes, whichever address and gateway they are asked for at', async () => {
  await askInTurn(8, 'both@example.com');
  await askInTurn(8, 'both.earlier@example.net');
  await until(() => sentTo('both@example.com').length >= 5);
  await settled(started.keys.frugal);
  expect(sentTo('both@example.com')).toHaveLength(5);
  await askInTurn(1, 'both@example.com', started.keys.beta);
  await until(() => sentTo('both@example.com').length === 6);
});

test('a thousand letters of one partner in 15 minutes, from all gateways together', async () => {
  const { outbox } = started.stack.stores.members;
  // As if 998 had gone to members of the partner already.
  const limit = { key: 'partner\ngamma', count: 1_000, windowMs: MINUTES_15 };
  for (let batch = 0; batch < 20; batch += 1) {
    await Promise.all(
      Array.from(
        { length: 50 },
        (_, index) => batch * 50 + index >= 2 && outbox.admit(limit, Date.now()),
      ),
    );
  }
  await askInTurn(4, 'ended@example.com', started.keys.gamma);
  await until(() => sentTo('ended@example.com').length >= 2);
  await settled(started.keys.frugal);
  expect(sentTo('ended@example.com')).toHaveLength(2);
});
