// Notices to partners' staff by mail, from the start of a gateway.
import { inviteStaff, issueKey } from '@partner-loyalty/gateway';
import { joinStaff } from '@partner-loyalty/gateway/identity/staff.ts';
import { createWebhookManager } from '@partner-loyalty/webhooks/manage.ts';
import { type MailServer, startMailServer } from '../support/servers/mailserver.ts';
import { type Stack, startStack } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

const DAY = 86_400_000;
const SETTINGS = {
  environment: 'sandbox',
  keyEncryptionKey: undefined,
  webhookPrivate: 'off',
  host: '127.0.0.1',
} as const;

let server: MailServer;
let stack: Stack;
beforeAll(async () => {
  server = await startMailServer();
});
afterEach(() => stack?.close());
afterAll(() => server?.down());

test('several gateways mail staff once that a key expires, and that an endpoint was disabled', async () => {
  stack = await startStack('three processes on MongoDB and Redis', { SMTP_URL: server.url });
  const { keys, standings } = stack.stores;
  const partnerId = `inn-${server.mails.length}`;
  await keys.createPartner({ partnerId, name: 'The Inn', createdAt: new Date() });
  const email = `eve@${partnerId}.example`;
  const tables = await keys.staffTables();
  const staff = await inviteStaff(tables, { partnerId, email, role: 'viewer' });
  if (typeof staff !== 'string') await joinStaff(tables, staff.staffId);
  const limits = { name: 'Tills', expiresAt: new Date(Date.now() + 2.9 * DAY) };
  const createdAt = new Date(Date.now() - 30 * DAY);
  const { key, record } = issueKey('sandbox', partnerId, createdAt, limits);
  await keys.createKey(record);
  const webhooks = createWebhookManager(standings, SETTINGS, { send: undefined, testMs: 0 });
  const url = 'https://hooks.example/secret';
  const made = await webhooks.manage({ action: 'create', partnerId, url });
  const webhookId = 'webhook' in made ? made.webhook.webhookId : '';
  await webhooks.manage({ action: 'disable', partnerId, webhookId });

  await Promise.all([stack.addGateway(), stack.addGateway()]);
  const texts = () =>
    server.mails.filter(({ recipients }) => recipients[0] === email).map(({ text }) => text);
  await until(() => texts().length >= 2);
  // A third one finds nothing to do. Whatever the others sent too often came before.
  await stack.addGateway();
  await until(async () => (await stack.stores.members.outbox.waiting()).count === 0);
  const rows = await tables.notices.select(() => true);
  expect(rows).toHaveLength(2);
  expect(rows.filter(({ claimedUntil }) => claimedUntil !== undefined)).toEqual([]);
  expect(texts()).toHaveLength(2);
  const all = texts()
    .join('\n')
    .replace(/[\u2068\u2069]/g, '');
  expect(all).toContain(`The API key "Tills" (${record.keyId}) of ${partnerId}`);
  expect(all).toContain(`The webhook endpoint ${webhookId} of ${partnerId}`);
  expect(all).toMatch(/http:\/\/localhost:\d+\/console\/keys/);
  expect(all).toMatch(/http:\/\/localhost:\d+\/console\/webhooks/);
  for (const secret of [key, 'hooks.example']) expect(all).not.toContain(secret);
});
