// Standings stores for tests, each in an empty place on one of the engines, and their activities.
import type { Engine } from '../../../test/support/engines.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import {
  type DatedActivity,
  openStandingsStore,
  type StandingsStore,
  verifyStandings,
} from '../src/index.ts';
import type { PendingMemberEvent } from '../src/members.ts';

export type Place = {
  settings: { mongodbUrl?: string; dataDir: string };
  /** Opens a store; several of them share the place. */
  open(environment?: 'sandbox' | 'production'): Promise<StandingsStore>;
  /** What verifying the stored data finds. */
  faults(): Promise<string[]>;
  /** Closes every open store and removes the place. */
  release(): Promise<void>;
};

/** An empty place for a store. */
export function newPlace(engine: Engine = 'lmdb'): Place {
  const { settings, release } = emptyPlace(engine);
  const opened: StandingsStore[] = [];
  return {
    settings,
    async open(environment = 'sandbox') {
      const store = await openStandingsStore({ ...settings, environment });
      opened.push(store);
      return store;
    },
    async faults() {
      const found: string[] = [];
      await verifyStandings(
        { ...settings, mongodbUrl: settings.mongodbUrl, environment: 'sandbox' },
        {
          report: (record, problem) => void found.push(`${record}: ${problem}`),
          hasPartner: async () => true,
        },
      );
      return found;
    },
    async release() {
      for (const store of opened) await store.close();
      await release();
    },
  };
}

/** An activity of one member with one partner in 2026, unless `change` says otherwise. */
export function activity(
  activityId: string,
  points: number,
  change: Partial<DatedActivity> = {},
): DatedActivity {
  const occurredAt = new Date('2026-06-30T12:00:00Z');
  return {
    activityId,
    partnerId: 'inn',
    memberId: 'ada',
    points,
    stays: 0,
    occurredAt,
    year: '2026-01-01',
    ...change,
  };
}

/** 3,000 activities of 60 members, half of them of one member. */
export const IMPORT = Array.from({ length: 3_000 }, (_, index) =>
  activity(`import-${index}`, index, {
    stays: 1,
    memberId: index % 2 === 0 ? 'busy' : `member-${index % 59}`,
  }),
);

/** A time in the current membership year or the one before, where they are calendar years. */
export function inYear(which: 'this' | 'last'): Pick<DatedActivity, 'occurredAt' | 'year'> {
  const year = `${new Date().getUTCFullYear() - (which === 'this' ? 0 : 1)}-01-01`;
  return { occurredAt: new Date(`${year}T12:00:00Z`), year };
}

/** What the outbox of members has in tests of killed processes: it keeps what is acknowledged. */
export function memberEvents(): PendingMemberEvent[] {
  return Array.from({ length: 5 }, (_, index) => {
    const id = `m-${index}`;
    const event = { id, type: 'MEMBER_UPDATED', partnerId: 'inn', occurredAt: index + 1 } as const;
    return { ack: id, event: { ...event, memberId: 'eve' }, occurredAt: event.occurredAt };
  });
}
