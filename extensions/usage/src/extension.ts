// The counts of fields, keys and requests, as an extension of the gateway.
import type { GatewayExtension } from '@partner-loyalty/gateway/ports.ts';
import { openStore } from '@partner-loyalty/gateway/serve.ts';
import { createUsageCounter } from './counter.ts';
import { createKeyUseCounter } from './keyuse.ts';
import { createRequestRecorder } from './recorder.ts';
import { openUsageStore } from './tables.ts';

/** The lifecycle closes the store after what is counted is in it. */
export const openUsage: NonNullable<GatewayExtension['openUsage']> = async (
  settings,
  { lifecycle, ...core },
) => {
  const open = () => openUsageStore({ ...settings, metrics: core.metrics });
  const usageStore = await openStore('usage', open, { lifecycle, log: core.log });
  const fields = createUsageCounter(usageStore, core);
  const keys = createKeyUseCounter(usageStore, core);
  const requests = createRequestRecorder(usageStore, core);
  lifecycle.opened('usage', () =>
    Promise.all([fields, keys, requests].map(({ close }) => close())),
  );
  return {
    usageStore,
    usage: {
      count: fields.count,
      ended(partnerId, request, budgetUsed) {
        const { keyId, isFault, status } = request;
        if (keyId !== undefined) keys.count(keyId, isFault ? undefined : status);
        requests.note(partnerId, request, budgetUsed);
      },
    },
  };
};
