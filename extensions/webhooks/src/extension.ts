// The delivery of events to partners' endpoints, as an extension of the standings subgraph.
import type { StandingsCore, Webhooks } from '@partner-loyalty/standings/ports.ts';
import { startDeliveries } from './deliveries.ts';
import { endpointsIn } from './endpoints.ts';
import { createWebhookManager } from './manage.ts';
import { createSender } from './send.ts';
import { createWebhookSecrets } from './target.ts';

/** A test that takes longer goes on; the answer has to be within the deadline of a subgraph. */
const TEST_MS = 1_200;

export function openWebhooks({ store, settings, log, metrics }: StandingsCore): Webhooks {
  const secrets = createWebhookSecrets(settings);
  const { disabledSince, failingBefore } = endpointsIn(store, secrets);
  const isUsed = settings.webhookDelivery === 'on' && secrets.isUsable;
  const sender = isUsed ? createSender(settings, secrets) : undefined;
  const deliveries = sender && startDeliveries(store, { send: sender.send, log, metrics });
  const manager = createWebhookManager(store, settings, { send: sender?.send, testMs: TEST_MS });
  return {
    manage: manager.manage,
    disabledSince,
    failingBefore,
    wake: () => deliveries?.wake(),
    async close() {
      await Promise.all([deliveries?.stop(), manager.close()]);
      await sender?.close();
    },
  };
}
