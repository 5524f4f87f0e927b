// Delivers messages to endpoints of webhooks, and prints what a message and an idle second cost.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { openStandingsStore } from '@partner-loyalty/standings';
import { createSender } from '@partner-loyalty/webhooks/send.ts';
import { createWebhookSecrets } from '@partner-loyalty/webhooks/target.ts';
import { startDeliveries } from '../../extensions/webhooks/src/deliveries.ts';
import { startReceiver } from '../../test/support/servers/receiver.ts';
import { until } from '../../test/support/until.ts';
import { appendEvents } from '../dataset/events.ts';
import type { StoreSettings } from '../dataset/stores.ts';

export type DeliveriesOptions = {
  settings: StoreSettings;
  rounds: number;
  messages: number;
  rows: { partners: number; each: number }[];
};
/** CPU time and elapsed time of a message in ms, and CPU time of an idle second. */
export type DeliveryCost = { cpuMs: number; wallMs: number; idleMs: number };

const IDLE_SECONDS = 5;

// Cast: parts/growth.ts writes the options.
const { settings, rounds, messages, rows } = JSON.parse(process.argv[2] ?? '') as DeliveriesOptions;
const store = await openStandingsStore(settings);
const { endpoints } = store.webhooks;
const secrets = createWebhookSecrets({ environment: 'sandbox', keyEncryptionKey: undefined });
const sender = createSender({ webhookPrivate: 'on', host: '127.0.0.1' }, secrets);
const receiver = await startReceiver();
const costs: DeliveryCost[][] = rows.map(() => []);
// The first round runs code that is not compiled yet.
for (let round = 0; round <= rounds; round += 1)
  for (const [index, row] of rows.entries()) {
    const cost = await deliver(row);
    if (round > 0) costs[index]?.push(cost);
  }
await sender.close();
await receiver.close();
await store.close();
console.log(`RESULT ${JSON.stringify(costs)}`);

async function deliver({ partners, each }: DeliveriesOptions['rows'][number]) {
  receiver.received.length = 0;
  const partnerIds = Array.from({ length: partners }, (_, index) => `bench-${index}`);
  const webhookIds: string[] = [];
  for (const partnerId of partnerIds)
    for (let count = 0; count < each; count += 1) {
      const webhookId = `wh_${randomUUID()}`;
      webhookIds.push(webhookId);
      const [position, { sealed }] = [await store.feed.last(partnerId), await secrets.create()];
      const its = { webhookId, partnerId, url: receiver.url, secrets: [{ sealed }], position };
      await endpoints.put({ ...its, state: 'active', revision: 0, createdAt: Date.now() });
    }
  const log = createLog('silent');
  const worker = startDeliveries(store, { send: sender.send, log, metrics: createMetrics() });
  await until(async () => (await endpoints.select(({ lease }) => !lease)).length === 0);
  const idle = process.cpuUsage();
  await pause(IDLE_SECONDS * 1_000);
  const idleMs = cpuMsSince(idle) / IDLE_SECONDS;
  await appendEvents(store.feed, partnerIds, messages / (partners * each));
  // A few may have been sent by now.
  const left = messages - receiver.received.length;
  const [busy, startedAt] = [process.cpuUsage(), performance.now()];
  worker.wake();
  await until(() => receiver.received.length >= messages);
  const cost = { cpuMs: cpuMsSince(busy) / left, wallMs: (performance.now() - startedAt) / left };
  await worker.stop();
  for (const webhookId of webhookIds) await endpoints.remove(webhookId);
  return { ...cost, idleMs };
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
