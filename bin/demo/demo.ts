// Fills empty stores with the demo, once; an interrupted fill is repeated at the next start.
import { issueKey, type KeyStore, makeDemoToken } from '@partner-loyalty/gateway';
import type { MembersStore } from '@partner-loyalty/members';
import { isLoopback, type Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { StandingsStore } from '@partner-loyalty/standings';
import { demoActivities } from './activities.ts';
import { demoMembers } from './members.ts';
import { DEMO_PARTNERS } from './partners.ts';

export type Stores = { keys: KeyStore; members: MembersStore; standings: StandingsStore };

export type DemoKey = { partnerId: string; key: string };

/**
 * The stores if the demo belongs in them: in a sandbox, embedded, all three in this process, and
 * either empty or partly filled by a demo that was interrupted. Undefined otherwise, and always
 * after an operator's command has written to them.
 */
export async function storesForDemo(
  settings: Pick<Settings, 'environment' | 'mongodbUrl'>,
  stores: { [Name in keyof Stores]?: Stores[Name] | undefined },
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

/**
 * Writes the demo as of `now` and returns a new key for each partner, of which only the hash is
 * stored. After an interruption it can be called again.
 */
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
  // Activities of an interrupted fill conflict, since their times differ; they count all the same.
  await standings.record(demo.activities);
  const demoKeys: DemoKey[] = [];
  for (const { partnerId } of demo.partners) {
    const { key, record } = issueKey('sandbox', partnerId, now);
    await keys.createKey(record);
    demoKeys.push({ partnerId, key });
  }
  await keys.setOrigin('demo');
  return demoKeys;
}

/**
 * A link below the service's `url` that signs a browser in to the console as an admin of the first
 * partner, once, within 15 minutes. Undefined unless the stores have the demo, the console is on,
 * and nobody can reach the service from another machine.
 */
export async function demoConsoleLink(
  keys: KeyStore,
  { console, host, sandboxUrl }: Pick<Settings, 'console' | 'host' | 'sandboxUrl'>,
  url: string,
): Promise<string | undefined> {
  const [partner] = DEMO_PARTNERS;
  const isPrivate = isLoopback(new URL(sandboxUrl).hostname) && isLoopback(host);
  if (console === 'off' || !isPrivate || partner === undefined) return undefined;
  if ((await keys.origin()) !== 'demo') return undefined;
  const token = await makeDemoToken(await keys.staffTables(), partner.partnerId);
  return `${url}/console/sign-in?token=${token}`;
}

/** 3 partners, 200 members and their activities as of `now`. */
export function demoData(now: Date) {
  const members = demoMembers();
  return { partners: DEMO_PARTNERS, members, activities: demoActivities(members, now) };
}
