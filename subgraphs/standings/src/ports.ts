// What the standings subgraph lends an extension that sends webhooks, and what that adds to it.
import type {
  NotedWebhook,
  WebhookAction,
  WebhookAnswer,
  WebhookRequest,
} from '@partner-loyalty/runtime/manage/webhooks.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { StandingsStore } from './store/store.ts';

export type StandingsSettings = Pick<
  Settings,
  | 'environment'
  | 'eventRetentionDays'
  | 'host'
  | 'keyEncryptionKey'
  | 'webhookDelivery'
  | 'webhookPrivate'
>;

export type StandingsCore = {
  store: StandingsStore;
  settings: StandingsSettings;
  log: Log;
  metrics: Metrics;
};

export type Webhooks = {
  /** `byStaff`: the partner's staff ask, and whether only this machine can open their console. */
  manage<Action extends WebhookAction>(
    request: WebhookRequest<Action>,
    by: { byStaff?: { isLocal: boolean } },
  ): Promise<WebhookAnswer<Action>>;
  /** The endpoints disabled since an instant, other than by their partner's suspension. */
  disabledSince(since: number): Promise<NotedWebhook[]>;
  /** The endpoints that are failing, and have had no success since `before` or earlier. */
  failingBefore(before: number): Promise<NotedWebhook[]>;
  /** Looks for events at once. */
  wake(): void;
  /** Ends what is in progress. */
  close(): Promise<void>;
};

/** What the module of an extension exports. */
export type StandingsExtension = { openWebhooks(core: StandingsCore): Webhooks };
