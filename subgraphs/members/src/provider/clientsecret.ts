// The secrets of confidential apps.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { App } from '../tables/apps.ts';

type Secrets = NonNullable<App['secrets']>;

/** How long a replaced secret still works. */
const OVERLAP_MS = 24 * 3_600_000;

export function makeSecret(): { secret: string; hash: string } {
  const secret = `cs_${randomBytes(32).toString('base64url')}`;
  return { secret, hash: hash('sha256', secret) };
}

/** The secrets after a rotation: the new one, and the one before for 24 hours. */
export function rotated(secrets: Secrets, next: string, now: number): Secrets {
  const current = secrets.filter(({ until }) => until === undefined);
  return [...current.map((one) => ({ ...one, until: now + OVERLAP_MS })), { hash: next }];
}

/** Whether it is one of the secrets in JSON. Takes the same time for all. */
export function hasSecret(secrets: string, given: string, now: number): boolean {
  const digest = Buffer.from(hash('sha256', given));
  // Cast: the app's secrets as it is stored.
  const valid = (JSON.parse(secrets) as Secrets).filter(({ until = now + 1 }) => until > now);
  return valid.map((one) => timingSafeEqual(digest, Buffer.from(one.hash))).includes(true);
}
