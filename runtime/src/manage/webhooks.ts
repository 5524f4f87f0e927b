// What the command and the console ask for about a partner's webhooks, and the answers.

/** An endpoint as it may be shown. Times are in milliseconds since 1970. */
export type Webhook = {
  webhookId: string;
  partnerId: string;
  url: string;
  /** Undefined is every type. */
  types?: string[] | undefined;
  /** Retrying: something that has failed waits. Failing: the last 10 attempts or more failed. */
  state: 'active' | 'retrying' | 'failing' | 'disabled';
  disabledBecause?: 'COMMAND' | 'CONSOLE' | 'SUSPENDED' | 'GONE' | 'FAILING' | undefined;
  /** Since when no attempt has succeeded, if the last one failed. */
  failingSince?: number | undefined;
  /** How many attempts have failed since then. */
  attempts: number;
  /** What the last failed attempt got, while something waits to be sent again. */
  lastStatus?: number | undefined;
  lastReason?: string | undefined;
  /** When something that has failed is sent again. */
  nextAttemptAt?: number | undefined;
  /** How many events a replay is through with, those of other types included. */
  replay?: { done: number; total: number; startedAt: number } | undefined;
  createdAt: number;
};

/** One attempt at sending a message. */
export type WebhookAttempt = {
  /** When it ended. */
  at: number;
  durationMs: number;
  status?: number;
  reason?: string;
  /** The beginning of the response's body, from a public address. */
  answer?: string;
  /** It came before its time, so it does not count among the message's attempts. */
  isExtra?: boolean;
};

/** A message that was delivered or given up, or that waits. */
export type WebhookDelivery = {
  outcome: 'delivered' | 'failed' | 'waiting';
  /** The event's, or that of a test. */
  id: string;
  type: string;
  /** When it was last tried, or else when its event occurred. */
  at: number;
  attempts: number;
  /** The latest attempt's, if it was tried. */
  durationMs?: number | undefined;
  status?: number | undefined;
  reason?: string | undefined;
  /** When it is tried again; what waits without it is behind another message of its member. */
  nextAttemptAt?: number | undefined;
  /** Whether its event can be sent again by its ID. */
  isEvent: boolean;
};

export type WebhookSummary = Webhook & {
  /** How many events are not delivered yet, those of other types included. */
  waiting: number;
  last?: WebhookDelivery | undefined;
};

/** An endpoint that was disabled or is failing, for a notice to the partner's staff. */
export type NotedWebhook = Pick<Webhook, 'webhookId' | 'partnerId' | 'failingSince'> & {
  /** The host of its URL, the rest of which may be secret. */
  host: string;
  disabledAt?: number | undefined;
};

type OfOne = { webhookId: string };

/** The input of each action, and its answer if it is not refused. */
type WebhookActions = {
  list: [object, { webhooks: WebhookSummary[]; eventTypes: string[] }];
  /** The deliveries are what waits, the next first, then the latest outcomes, the newest first. */
  show: [OfOne, { webhook: WebhookSummary; deliveries: WebhookDelivery[]; eventTypes: string[] }];
  /** The latest attempts, oldest first, and what is sent, unless its event is not kept any more. */
  message: [
    OfOne & { eventId: string },
    { webhook: Webhook; message: WebhookDelivery; history: WebhookAttempt[]; payload?: object },
  ];
  /** The secret cannot be read again. */
  create: [{ url: string; types?: string[] | undefined }, { webhook: Webhook; secret: string }];
  /** What is left out stays; types that are null become every type. */
  edit: [OfOne & { url?: string; types?: string[] | null }, { webhook: Webhook }];
  rotate: [OfOne, { webhook: Webhook; secret: string }];
  /** Without `sent`, the message is still on its way; its outcome will be among the deliveries. */
  test: [OfOne, { sent?: WebhookDelivery | undefined }];
  /**
   * Sends again what occurred at `since` or later, or one event among the deliveries; one that
   * waits is tried now.
   */
  replay: [OfOne & ({ since: number } | { eventId: string }), { webhook: Webhook }];
  disable: [OfOne, { webhook: Webhook }];
  enable: [OfOne, { webhook: Webhook }];
  remove: [OfOne, { webhook: Webhook }];
};

export type WebhookAction = keyof WebhookActions;
export type WebhookInput<Action extends WebhookAction> = WebhookActions[Action][0];
export type WebhookRequest<Action extends WebhookAction> = WebhookInput<Action> & {
  action: Action;
  /** An endpoint of another partner is unknown. */
  partnerId: string;
};
export type WebhookDone<Action extends WebhookAction> = WebhookActions[Action][1];
export type WebhookAnswer<Action extends WebhookAction> = WebhookDone<Action> | WebhookRefusal;

/**
 * There is no such endpoint; the partner has as many as it may have; it sends nothing until it is
 * enabled; production lacks KEY_ENCRYPTION_KEY; a test is still on its way; this process sends
 * nothing; the event is not kept any more; no such message is listed; another replay is running;
 * `fault` says what the URL must be.
 */
export type WebhookRefusal = {
  refused:
    | 'unknown'
    | 'tooMany'
    | 'disabled'
    | 'noKey'
    | 'testing'
    | 'off'
    | 'dropped'
    | 'unlisted'
    | 'replaying'
    | 'url';
  fault?: string | undefined;
};
