// The marks that erased members leave: a keyed hash of each ID, which does not reveal the ID.
import { createHmac, randomBytes } from 'node:crypto';

const KEY_BYTES = 32;

/** A new random key. A store creates one and keeps it, since its marks are useless without it. */
export function newMarkKey(): string {
  return randomBytes(KEY_BYTES).toString('base64url');
}

/** The mark of a member: HMAC-SHA256 of the ID. */
export function markOf(key: string, memberId: string): string {
  return createHmac('sha256', key).update(memberId).digest('base64url');
}
