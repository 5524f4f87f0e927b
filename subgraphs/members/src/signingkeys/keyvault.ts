// Encrypts private signing keys for storage (RFC 7517, section 7: a JWK in a JWE).
import { CompactEncrypt, compactDecrypt, type JWK } from 'jose';

/** A private key as it is stored: a JWE (RFC 7516) in compact form, or the JWK itself. */
export type StoredPrivateKey = JWK | { jwe: string };

export type KeyVault = {
  /** The form in which to store a private key. */
  seal(privateKey: StoredPrivateKey): Promise<StoredPrivateKey>;
  /** Rejects if the key was encrypted with another KEY_ENCRYPTION_KEY, or this one is not set. */
  unseal(stored: StoredPrivateKey): Promise<JWK>;
};

/** A vault with AES-256-GCM; without `key`, 32 bytes in Base64, keys are stored as they are. */
export function createKeyVault(key: string | undefined): KeyVault {
  const secret = key === undefined ? undefined : Buffer.from(key, 'base64');
  return {
    async seal(privateKey) {
      if (secret === undefined || isSealed(privateKey)) return privateKey;
      const jwe = await new CompactEncrypt(Buffer.from(JSON.stringify(privateKey)))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', cty: 'jwk+json' })
        .encrypt(secret);
      return { jwe };
    },
    async unseal(stored) {
      if (!isSealed(stored)) return stored;
      if (secret === undefined)
        throw new Error('the signing keys are encrypted: set KEY_ENCRYPTION_KEY');
      try {
        return JSON.parse(
          Buffer.from((await compactDecrypt(stored.jwe, secret)).plaintext).toString(),
        );
      } catch (cause) {
        throw new Error('the signing keys are encrypted with another KEY_ENCRYPTION_KEY', {
          cause,
        });
      }
    },
  };
}

function isSealed(stored: StoredPrivateKey): stored is { jwe: string } {
  return 'jwe' in stored;
}
