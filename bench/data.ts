// Fills stores with the population by the same functions the operator's command uses, and makes keys for it.
import { join } from 'node:path';
import { hashKey, newKey, openKeyStore } from '@partner-loyalty/gateway';
import { canonicalEmail, type MemberImport, openMembersStore } from '@partner-loyalty/members';
import type { Settings } from '@partner-loyalty/runtime';
import { openStandingsStore, yearOf } from '@partner-loyalty/standings';
import { emailOf, externalIdOf, memberIdOf, PARTNER, PROGRAM, pointsOf } from './population.ts';

export type StoreSettings = Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>;

const BATCH = 5_000;
const BUDGET = 1_000_000_000;

/** Stores of `count` members each with one activity, kept in bench/data from run to run, where `mongodbUrl` does not put them elsewhere. */
export function storesOf(count: number, mongodbUrl?: string): StoreSettings {
  const dataDir = join(import.meta.dirname, 'data', `${count}`);
  if (mongodbUrl === undefined) return { dataDir, environment: 'sandbox' };
  const url = new URL(mongodbUrl);
  url.pathname = `/bench_${count}`;
  return { mongodbUrl: url.href, dataDir, environment: 'sandbox' };
}

/** Writes what is missing of the members 0 to `count` - 1 and their points. */
export async function fill(stores: StoreSettings, count: number): Promise<void> {
  const members = await openMembersStore(stores);
  const standings = await openStandingsStore(stores);
  try {
    await standings.putProgram(PARTNER, PROGRAM);
    const now = new Date();
    const year = yearOf(PROGRAM, now);
    // They are written in order, so that the last one tells of all.
    const last = await standings.standing(PARTNER, memberIdOf(count - 1), year);
    if (count === 0 || last?.points === pointsOf(count - 1)) return;
    for (let first = 0; first < count; first += BATCH) {
      const batch = Array.from(
        { length: Math.min(BATCH, count - first) },
        (_, index) => first + index,
      );
      const known = await members.importMembers(batch.map(recordOf));
      if (known.some((outcome) => !['added', 'changed', 'unchanged'].includes(outcome)))
        throw new Error('a member was refused');
      await standings.record(
        batch.map((index) => {
          const activityId = `${year}-${index}`;
          return {
            activityId,
            partnerId: PARTNER,
            memberId: memberIdOf(index),
            points: pointsOf(index),
            stays: 1,
            occurredAt: now,
            year,
          };
        }),
      );
    }
  } finally {
    await Promise.all([members.close(), standings.close()]);
  }
}

/** New keys of the partner, as headers, with a budget that no run uses up. */
export async function makeKeys(
  stores: StoreSettings,
  count: number,
): Promise<Record<string, string>[]> {
  const keys = await openKeyStore(stores);
  try {
    const now = new Date();
    await keys.createPartner({ partnerId: PARTNER, name: 'Bench', budget: BUDGET, createdAt: now });
    const made = Array.from({ length: count }, () => newKey(stores.environment));
    for (const key of made) {
      const hash = hashKey(key);
      await keys.createKey({
        keyId: `key_${hash.slice(0, 16)}`,
        partnerId: PARTNER,
        hash,
        createdAt: now,
      });
    }
    await keys.setOrigin('operator');
    return made.map((key) => ({ 'x-partner-api-key': key }));
  } finally {
    await keys.close();
  }
}

/** The settings as a process reads them from its environment. */
export function asEnv({ mongodbUrl, dataDir }: StoreSettings): Record<string, string> {
  return { DATA_DIR: dataDir, MONGODB_URL: mongodbUrl ?? '', ENVIRONMENT: 'sandbox' };
}

function recordOf(index: number): MemberImport {
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
