// Encrypts what stores keep secret with KEY_ENCRYPTION_KEY.
import { CompactEncrypt, compactDecrypt } from 'jose';

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
