// The public list of webhooks, for the operator's command.

export { disableEndpoint, endpointsOf, MAX_ENDPOINTS } from './endpoints.ts';
export { createWebhookManager } from './manage.ts';
export { createSender } from './send.ts';
export { createWebhookSecrets } from './target.ts';
