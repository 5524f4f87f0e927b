// Encrypts what stores keep secret with KEY_ENCRYPTION_KEY.

import { randomBytes } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';
import type { Settings } from '../settings/table.ts';

/** A vault with AES-256-GCM; `key` is 32 bytes in Base64. */
export function createVault(key: string) {
  const secret = Buffer.from(key, 'base64');
  return {
    /** Resolves with a JWE (RFC 7516) in compact form. */
    seal: (text: string): Promise<string> =>
      new CompactEncrypt(Buffer.from(text))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .encrypt(secret),
    /** Rejects if it was encrypted with another key. */
    unseal: async (jwe: string): Promise<string> =>
      Buffer.from((await compactDecrypt(jwe, secret)).plaintext).toString(),
  };
}

/** `prefix` begins the secrets, and distinguishes them from encrypted ones. */
export function createSealedSecrets(
  prefix: string,
  { environment, keyEncryptionKey }: Pick<Settings, 'environment' | 'keyEncryptionKey'>,
) {
  const vault = keyEncryptionKey === undefined ? undefined : createVault(keyEncryptionKey);
  return {
    /** False in production without KEY_ENCRYPTION_KEY: then nothing is to be made or used. */
    isUsable: vault !== undefined || environment !== 'production',
    /** A new secret, and its stored form. */
    async create(): Promise<{ secret: string; sealed: string }> {
      const secret = `${prefix}${randomBytes(32).toString('base64')}`;
      return { secret, sealed: vault === undefined ? secret : await vault.seal(secret) };
    },
    /** Rejects if it was encrypted with another KEY_ENCRYPTION_KEY, or this one is not set. */
    async unseal(sealed: string): Promise<string> {
      if (sealed.startsWith(prefix)) return sealed;
      if (vault === undefined) throw new Error('KEY_ENCRYPTION_KEY is not set');
      return vault.unseal(sealed);
    },
  };
}
