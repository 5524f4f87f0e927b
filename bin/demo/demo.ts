// Fills empty stores with the demo, once, and starts over where an earlier fill was interrupted.
import { issueKey, type KeyStore } from '@partner-loyalty/gateway';
import type { MembersStore } from '@partner-loyalty/members';
import type { Settings } from '@partner-loyalty/runtime';
import type { StandingsStore } from '@partner-loyalty/standings';
import { demoData } from './data.ts';

export type Stores = { keys: KeyStore; members: MembersStore; standings: StandingsStore };

export type DemoKey = { partnerId: string; key: string };

/**
 * The stores, where the demo belongs in them: a sandbox whose three embedded stores are in this process and empty, or half filled by a demo that was
 * interrupted. Undefined elsewhere, and wherever a command has written.
 */
export async function storesForDemo(
  settings: Pick<Settings, 'environment' | 'mongodbUrl'>,
  stores: Partial<Stores>,
): Promise<Stores | undefined> {
  const { keys, members, standings } = stores;
  if (settings.environment !== 'sandbox' || settings.mongodbUrl !== undefined) return undefined;
  if (keys === undefined || members === undefined || standings === undefined) return undefined;
  const origin = await keys.origin();
  const unclaimed =
    origin === undefined &&
    (await keys.isEmpty()) &&
    (await members.isEmpty()) &&
    (await standings.isEmpty());
  return unclaimed || origin === 'demo-begun' ? { keys, members, standings } : undefined;
}

/** Writes the demo as of `now` and makes a key for each partner, known only to the caller. Interrupted anywhere, it can be called again. */
export async function fillDemo(
  { keys, members, standings }: Stores,
  now: Date,
): Promise<DemoKey[]> {
  const demo = demoData(now);
  await keys.setOrigin('demo-begun');
  for (const { partnerId, name, program } of demo.partners) {
    await members.partners.put({ partnerId, name });
    await standings.putProgram(partnerId, program);
    await keys.createPartner({ partnerId, name, createdAt: now });
  }
  await members.importMembers(demo.members);
  // What an interrupted fill has recorded at its own time is refused as other content: it counts the same.
  await standings.record(demo.activities);
  const made: DemoKey[] = [];
  for (const { partnerId } of demo.partners) {
    const { key, record } = issueKey('sandbox', partnerId, now);
    await keys.createKey(record);
    made.push({ partnerId, key });
  }
  await keys.setOrigin('demo');
  return made;
}
