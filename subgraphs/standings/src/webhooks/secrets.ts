// The secrets that messages to endpoints are signed with, as stores keep them.
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { createSealedSecrets } from '@partner-loyalty/runtime/store/sealed.ts';

export type WebhookSecrets = ReturnType<typeof createWebhookSecrets>;

export function createWebhookSecrets(settings: Pick<Settings, 'environment' | 'keyEncryptionKey'>) {
  return createSealedSecrets('whsec_', settings);
}
