// Fills stores with the benchmark's members and creates API keys, by the stores' own functions.
import { join } from 'node:path';
import { hashKey, type KeyRecord, newKey, openKeyStore } from '@partner-loyalty/gateway';
import { canonicalEmail, type MemberImport, openMembersStore } from '@partner-loyalty/members';
import type { Settings } from '@partner-loyalty/runtime';
import { openStandingsStore, yearOf } from '@partner-loyalty/standings';
import { emailOf, externalIdOf, memberIdOf, PARTNER, PROGRAM, pointsOf } from './population.ts';

export type StoreSettings = Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>;

const BATCH_SIZE = 5_000;
const BUDGET = 1_000_000_000;
const DATA = join(import.meta.dirname, '../data');

/**
 * Stores of `count` members: in the MongoDB at `mongodbUrl` or, without one, in bench/data, where
 * later runs find them.
 */
export function storesOf(count: number, mongodbUrl?: string): StoreSettings {
  const dataDir = join(DATA, `${count}`);
  if (mongodbUrl === undefined) return { dataDir, environment: 'sandbox' };
  const url = new URL(mongodbUrl);
  url.pathname = `/bench_${count}`;
  return { mongodbUrl: url.href, dataDir, environment: 'sandbox' };
}

/** Writes the members 0 to `count` - 1, each with one activity, unless they are there already. */
export async function fill(settings: StoreSettings, count: number): Promise<void> {
  const members = await openMembersStore(settings);
  const standings = await openStandingsStore(settings);
  try {
    await standings.putProgram(PARTNER, PROGRAM);
    const now = new Date();
    const year = yearOf(PROGRAM, now);
    // Members are written in order: if the last one is there, all are.
    const last = await standings.standing(PARTNER, memberIdOf(count - 1), year);
    if (count === 0 || last?.points === pointsOf(count - 1)) return;
    for (let first = 0; first < count; first += BATCH_SIZE) {
      const length = Math.min(BATCH_SIZE, count - first);
      const batch = Array.from({ length }, (_, index) => first + index);
      const outcomes = await members.importMembers(batch.map(memberOf));
      if (outcomes.some((outcome) => !['added', 'changed', 'unchanged'].includes(outcome)))
        throw new Error('the store rejected a member');
      await standings.record(batch.map((index) => activityOf(index, year, now)));
    }
  } finally {
    await Promise.all([members.close(), standings.close()]);
  }
}

/** What limits the use of a key. */
export type KeyLimits = Pick<KeyRecord, 'scopes' | 'allow'>;

/** Creates keys with a budget that no run uses up, and returns the header of each. */
export async function createKeys(
  settings: StoreSettings,
  count: number,
  limits: KeyLimits = {},
): Promise<Record<string, string>[]> {
  const store = await openKeyStore(settings);
  try {
    const createdAt = new Date();
    await store.createPartner({ partnerId: PARTNER, name: 'Bench', budget: BUDGET, createdAt });
    const keys = Array.from({ length: count }, () => newKey(settings.environment));
    for (const key of keys) {
      const hash = hashKey(key);
      const keyId = `key_${hash.slice(0, 16)}`;
      await store.createKey({ keyId, partnerId: PARTNER, hash, createdAt, ...limits });
    }
    await store.setOrigin('operator');
    return keys.map((key) => ({ 'x-partner-api-key': key }));
  } finally {
    await store.close();
  }
}

/** The settings as environment variables of a process. */
export function asEnv({ mongodbUrl, dataDir }: StoreSettings): Record<string, string> {
  return { DATA_DIR: dataDir, MONGODB_URL: mongodbUrl ?? '', ENVIRONMENT: 'sandbox' };
}

function memberOf(index: number): MemberImport {
  const typed = emailOf(index);
  return {
    memberId: memberIdOf(index),
    address: { typed, canonical: canonicalEmail(typed) ?? typed },
    previousAddresses: [],
    firstName: `First${index}`,
    lastName: `Last${index}`,
    enrollments: [{ partnerId: PARTNER, externalId: externalIdOf(index), status: 'ACTIVE' }],
  };
}

function activityOf(index: number, year: string, occurredAt: Date) {
  return {
    activityId: `${year}-${index}`,
    partnerId: PARTNER,
    memberId: memberIdOf(index),
    points: pointsOf(index),
    stays: 1,
    occurredAt,
    year,
  };
}
