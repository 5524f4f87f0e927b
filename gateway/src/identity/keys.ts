// What is done with a partner's keys, by the operator's command and in the console.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import type { KeyActivity, UsageCounts } from '../usage/usage.ts';
import { issueKey, type KeyLimits } from './apikey.ts';
import type { KeyRecord, KeyStore } from './keystore.ts';

/** How long a key works on after its rotation, unless another time is given. */
const ROTATION_OVERLAP_MS = 7 * 86_400_000;

type IssuedKey = { key: string; record: KeyRecord };

/** Creates a key of a partner that exists. The text is shown once: it is not stored. */
export async function createKey(
  keys: Pick<KeyStore, 'createKey'>,
  environment: Environment,
  partnerId: string,
  limits: KeyLimits,
): Promise<IssuedKey> {
  const issued = issueKey(environment, partnerId, new Date(), limits);
  await keys.createKey(issued.record);
  return issued;
}

/**
 * Creates a key with the rights of an active one, which ends after the overlap, or earlier if it
 * does so anyway. Unless `expiresAt` is given, the new key lives as long as the former one.
 */
export async function rotateKey(
  keys: Pick<KeyStore, 'createKey' | 'expireKey'>,
  environment: Environment,
  former: KeyRecord,
  {
    overlapMs = ROTATION_OVERLAP_MS,
    expiresAt,
  }: { overlapMs?: number | undefined; expiresAt?: Date | undefined },
): Promise<IssuedKey & { formerExpiresAt: Date }> {
  const now = Date.now();
  const { keyId, partnerId, name, endpoint, scopes, allow, createdAt } = former;
  const sameLifetime =
    former.expiresAt && new Date(now + former.expiresAt.getTime() - createdAt.getTime());
  const limits = { name, endpoint, scopes, allow, expiresAt: expiresAt ?? sameLifetime };
  // The new key comes first: if this is interrupted, the former one works as before.
  const issued = await createKey(keys, environment, partnerId, omitUndefined(limits));
  const endsAt = new Date(now + overlapMs);
  await keys.expireKey(keyId, endsAt);
  const { expiresAt: before = endsAt } = former;
  return { ...issued, formerExpiresAt: before < endsAt ? before : endsAt };
}

/** The keys in the same order, each with its use if it was ever used. */
export async function keysWithUse(
  records: readonly KeyRecord[],
  usage: Pick<UsageCounts, 'keyActivities'>,
): Promise<{ record: KeyRecord; activity: KeyActivity | undefined }[]> {
  const keyIds = records.map(({ keyId }) => keyId);
  const activities = await usage.keyActivities(keyIds, new Date());
  const byKey = new Map(activities.map((activity) => [activity.keyId, activity]));
  return records.map((record) => ({ record, activity: byKey.get(record.keyId) }));
}

type KeyState = 'active' | 'expired' | 'revoked';

export function stateOfKey({
  expiresAt,
  revokedAt,
}: Pick<KeyRecord, 'expiresAt' | 'revokedAt'>): KeyState {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt.getTime() <= Date.now() ? 'expired' : 'active';
}
