// How commands use the stores: opened for one piece of work, and claimed before the first write.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type GraphStore,
  type KeyStore,
  openGraphStore,
  openKeyStore,
  openUsageStore,
  type Partner,
  type UsageStore,
} from '@partner-loyalty/gateway';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { StoreName } from '@partner-loyalty/runtime/store/private.ts';
import { SUBGRAPHS, type SubgraphStores } from '../../subgraphs.ts';
import { CommandError } from './shell.ts';

type Stores = SubgraphStores & { keys: KeyStore; graph: GraphStore; usage: UsageStore };

const OPEN: { [Name in keyof Stores]: (settings: Settings) => Promise<Stores[Name]> } = {
  keys: openKeyStore,
  graph: openGraphStore,
  usage: openUsageStore,
  members: SUBGRAPHS.members.openStore,
  standings: SUBGRAPHS.standings.openStore,
};

/** Whether the store exists; on MongoDB, opening one creates it. */
export function hasStore(name: StoreName, { mongodbUrl, dataDir }: Settings): boolean {
  return mongodbUrl !== undefined || existsSync(join(dataDir, name, 'data.mdb'));
}

/** Opens a store, passes it to `work`, and closes it afterwards, even if the work fails. */
export async function withStore<Name extends keyof Stores, T>(
  name: Name,
  settings: Settings,
  work: (store: Stores[Name]) => Promise<T>,
): Promise<T> {
  const store = await OPEN[name](settings);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Records that an operator writes to the stores, so that `npm start` no longer adds demo data. */
export async function claimForOperator(keys: KeyStore): Promise<void> {
  const origin = await keys.origin();
  if (origin === undefined || origin === 'demo-begun') await keys.setOrigin('operator');
}

/** The partner with this ID. Throws a CommandError if there is none. */
export async function requirePartner(keys: KeyStore, partnerId: string): Promise<Partner> {
  const partner = await keys.partner(partnerId);
  if (partner === undefined)
    throw new CommandError(`there is no partner ${JSON.stringify(partnerId)}`);
  return partner;
}
