// The secrets that messages to endpoints are signed with, as stores keep them.
import { randomBytes } from 'node:crypto';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { createVault } from '@partner-loyalty/runtime/store/vault.ts';

export type WebhookSecrets = ReturnType<typeof createWebhookSecrets>;

const PREFIX = 'whsec_';

export function createWebhookSecrets({
  environment,
  keyEncryptionKey,
}: Pick<Settings, 'environment' | 'keyEncryptionKey'>) {
  const vault = keyEncryptionKey === undefined ? undefined : createVault(keyEncryptionKey);
  return {
    /** False in production without KEY_ENCRYPTION_KEY: then nothing is to be made or sent. */
    isUsable: vault !== undefined || environment !== 'production',
    /** A new secret, and its stored form. */
    async create(): Promise<{ secret: string; sealed: string }> {
      const secret = `${PREFIX}${randomBytes(32).toString('base64')}`;
      return { secret, sealed: vault === undefined ? secret : await vault.seal(secret) };
    },
    /** Rejects if it was encrypted with another KEY_ENCRYPTION_KEY, or this one is not set. */
    async unseal(sealed: string): Promise<string> {
      if (sealed.startsWith(PREFIX)) return sealed;
      if (vault === undefined) throw new Error('KEY_ENCRYPTION_KEY is not set');
      return vault.unseal(sealed);
    },
  };
}
