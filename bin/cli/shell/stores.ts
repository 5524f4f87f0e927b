// How commands use the stores: opened for one piece of work, and claimed before the first write.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type GraphStore,
  type KeyStore,
  openGraphStore,
  openKeyStore,
  type Partner,
} from '@partner-loyalty/gateway';
import { type MembersStore, openMembersStore } from '@partner-loyalty/members';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { StoreName } from '@partner-loyalty/runtime/store/private.ts';
import { openStandingsStore, type StandingsStore } from '@partner-loyalty/standings';
import { noSuch, type Shell } from './shell.ts';

type Stores = {
  keys: KeyStore;
  graph: GraphStore;
  members: MembersStore;
  standings: StandingsStore;
};

const OPEN: { [Name in keyof Stores]: (settings: Settings) => Promise<Stores[Name]> } = {
  keys: openKeyStore,
  graph: openGraphStore,
  members: (settings) => openMembersStore(settings),
  standings: openStandingsStore,
};

/** Whether the store exists; on MongoDB, opening one creates it. */
export function hasStore(name: StoreName, { mongodbUrl, dataDir }: Settings): boolean {
  return mongodbUrl !== undefined || existsSync(join(dataDir, name, 'data.mdb'));
}

type UseStore = <Name extends keyof Stores, T>(
  name: Name,
  settings: Settings,
  work: (store: Stores[Name]) => Promise<T>,
) => Promise<T>;

/** Opens a store, passes it to `work`, and closes it afterwards, even if the work fails. */
export const withStore: UseStore = async (name, settings, work) => {
  const store = await OPEN[name](settings);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
};

/** Like withStore, for work that only reads: a store that does not exist is empty, and not made. */
export const readStore: UseStore = async (name, settings, work) => {
  if (hasStore(name, settings)) return withStore(name, settings, work);
  const dataDir = mkdtempSync(join(tmpdir(), 'loyalty-empty-'));
  try {
    return await withStore(name, { ...settings, dataDir }, work);
  } finally {
    rmSync(dataDir, { recursive: true });
  }
};

/** Records that an operator writes to the stores, so that `npm start` no longer adds demo data. */
export async function claimForOperator(keys: KeyStore): Promise<void> {
  const origin = await keys.origin();
  if (origin === undefined || origin === 'demo-begun') await keys.setOrigin('operator');
}

export async function changeMembers<T>(
  shell: Shell,
  work: (members: MembersStore) => Promise<T>,
): Promise<T> {
  const settings = shell.settings();
  await withStore('keys', settings, claimForOperator);
  return withStore('members', settings, work);
}

export async function requirePartner(keys: KeyStore, partnerId: string): Promise<Partner> {
  const partner = await keys.partner(partnerId);
  if (partner === undefined) throw noSuch('partner', partnerId);
  return partner;
}

export async function requireMember(members: MembersStore, memberId: string) {
  const member = await members.member(memberId);
  if (member === undefined) throw noSuch('member', memberId);
  return member;
}

/** Writes what the members subgraph needs to know about a partner. */
export async function putIntoMembers(settings: Settings, partner: Partner): Promise<void> {
  const { partnerId, name, magicLinkUrl, consent, invitations, suspendedAt } = partner;
  const isSuspended = suspendedAt === undefined ? undefined : (true as const);
  await withStore('members', settings, ({ partners }) =>
    partners.put(
      omitUndefined({ partnerId, name, magicLinkUrl, consent, invitations, isSuspended }),
    ),
  );
}
