// Fills stores with the benchmark's members and creates API keys, by the stores' own functions.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { hashKey, type KeyRecord, newKey, openKeyStore } from '@partner-loyalty/gateway';
import {
  canonicalEmail,
  createMembers,
  type MemberImport,
  type MembersStore,
  makeSecret,
  openMembersStore,
} from '@partner-loyalty/members';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { backupStores } from '@partner-loyalty/runtime/store/backup.lmdb.ts';
import { createInProcessTransport } from '@partner-loyalty/runtime/subgraph/inprocess.ts';
import { openStandingsStore, type StandingsStore, yearOf } from '@partner-loyalty/standings';
import { createSequencer } from '../../subgraphs/standings/src/events/sequencer.ts';
import { createMembersClient } from '../../subgraphs/standings/src/members.ts';
import {
  emailOf,
  externalIdOf,
  memberIdOf,
  PARTNER,
  PROGRAM,
  partnerIdOf,
  pointsOf,
} from './population.ts';

export type StoreSettings = Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>;

type StoreOptions = { mongodbUrl?: string; partners?: number | undefined };

const BATCH_SIZE = 5_000;
const BUDGET = 1_000_000_000;
const DATA = join(import.meta.dirname, '../data');

/**
 * Stores of `count` members, each enrolled with so many partners: in MongoDB if there is a
 * `mongodbUrl`, otherwise in bench/data, which is kept for later runs.
 */
export function storesOf(
  count: number,
  { mongodbUrl, partners = 1 }: StoreOptions = {},
): StoreSettings {
  const dataDir = join(DATA, partners === 1 ? `${count}` : `${count}x${partners}`);
  const database = mongodbUrl && databaseOf(mongodbUrl, `bench_${count}`);
  return { mongodbUrl: database, dataDir, environment: 'sandbox' };
}

/** The address of a database of a server. */
export function databaseOf(mongodbUrl: string, name: string): string {
  const url = new URL(mongodbUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** A copy of embedded stores in `folder`, for another version, which may change what it opens. */
export async function copyStores(stores: StoreSettings, folder: string): Promise<StoreSettings> {
  const copy = join(folder, 'stores');
  rmSync(copy, { recursive: true, force: true });
  await backupStores(stores.dataDir, stores.environment, copy);
  return { ...stores, dataDir: copy };
}

/**
 * Writes the members 0 to `count` - 1, each with one activity at each partner, unless they are
 * there already.
 */
export async function fill(settings: StoreSettings, count: number, partners = 1): Promise<void> {
  const partnerIds = Array.from({ length: partners }, (_, index) => partnerIdOf(index));
  const members = await openMembersStore(settings);
  const standings = await openStandingsStore(settings);
  try {
    for (const partnerId of partnerIds) await standings.putProgram(partnerId, PROGRAM);
    const now = new Date();
    const year = yearOf(PROGRAM, now);
    // Members are written in order: if the last one is there, all are.
    const last = await standings.standing(PARTNER, memberIdOf(count - 1), year);
    const isFull = count === 0 || last?.points === pointsOf(count - 1);
    const size = Math.ceil(BATCH_SIZE / partners);
    for (let first = isFull ? count : 0; first < count; first += size) {
      const length = Math.min(size, count - first);
      const batch = Array.from({ length }, (_, index) => first + index);
      const outcomes = await members.importMembers(batch.map((n) => memberOf(n, partnerIds)));
      if (outcomes.some((outcome) => !['added', 'changed', 'unchanged'].includes(outcome)))
        throw new Error('the store rejected a member');
      await standings.record(
        batch.flatMap((index) =>
          partnerIds.map((partnerId) => activityOf(index, partnerId, year, now)),
        ),
      );
    }
    await sequence(members, standings);
  } finally {
    await Promise.all([members.close(), standings.close()]);
  }
}

/** Gives all events their positions, unless a service that runs does. */
async function sequence(members: MembersStore, { feed }: StandingsStore): Promise<void> {
  const subgraph = createMembers(members, { baseAddress: '', wake: () => {} });
  const transport = createInProcessTransport(subgraph, createLog('silent'), createCaches());
  const options = { members: createMembersClient(transport), retentionDays: 30 };
  const { pass, release } = createSequencer(feed, options);
  while (await pass());
  await release();
}

/** What limits the use of a key. */
export type KeyLimits = Pick<KeyRecord, 'scopes'>;

/**
 * Creates keys with a budget that no run uses up, of so many partners in turn, and returns the
 * header of each.
 */
export async function createKeys(
  settings: StoreSettings,
  count: number,
  limits: KeyLimits = {},
  partners = 1,
): Promise<Record<string, string>[]> {
  const store = await openKeyStore(settings);
  try {
    const createdAt = new Date();
    for (let index = 0; index < partners; index++) {
      const partnerId = partnerIdOf(index);
      await store.createPartner({ partnerId, name: 'Bench', budget: BUDGET, createdAt });
    }
    const keys = Array.from({ length: count }, () => newKey(settings.environment));
    for (const [index, key] of keys.entries()) {
      const hash = hashKey(key);
      const keyId = `key_${hash.slice(0, 16)}`;
      const partnerId = partnerIdOf(index % partners);
      await store.createKey({ keyId, partnerId, hash, createdAt, ...limits });
    }
    await store.setOrigin('operator');
    return keys.map((key) => ({ 'x-partner-api-key': key }));
  } finally {
    await store.close();
  }
}

/** Registers so many apps of a partner, and returns the header with the secret of each. */
export async function createApps(
  settings: StoreSettings,
  partnerId: string,
  count: number,
): Promise<Record<string, string>[]> {
  const { apps, close } = await openMembersStore(settings);
  try {
    const made = Array.from({ length: count }, (_, n) => ({ id: `app-${n}`, ...makeSecret() }));
    for (const { id, hash } of made)
      await apps.add({
        ...{ clientId: id, partnerId, name: 'Bench', secrets: [{ hash }] },
        ...{ redirectUris: ['https://bench.example/'], origins: [], createdAt: Date.now() },
      });
    return made.map(({ id, secret }) => ({
      authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
    }));
  } finally {
    await close();
  }
}

/** The settings as environment variables of a process. */
export function asEnv({ mongodbUrl, dataDir }: StoreSettings): Record<string, string> {
  return { DATA_DIR: dataDir, MONGODB_URL: mongodbUrl ?? '', ENVIRONMENT: 'sandbox' };
}

function memberOf(index: number, partnerIds: readonly string[]): MemberImport {
  const typed = emailOf(index);
  return {
    memberId: memberIdOf(index),
    address: { typed, canonical: canonicalEmail(typed) ?? typed },
    previousAddresses: [],
    firstName: `First${index}`,
    lastName: `Last${index}`,
    enrollments: partnerIds.map((partnerId) => ({
      partnerId,
      externalId: externalIdOf(index),
      status: 'ACTIVE',
    })),
  };
}

function activityOf(index: number, partnerId: string, year: string, occurredAt: Date) {
  return {
    activityId: `${year}-${index}`,
    partnerId,
    memberId: memberIdOf(index),
    points: pointsOf(index),
    stays: 1,
    occurredAt,
    year,
  };
}
