// A standings store for tests, on either engine, in a place of its own; and short ways to write what it is given.

import { temporaryFolder } from '../../../test/support/folder.ts';
import { freshMongodbUrl } from '../../../test/support/servers/databases.ts';
import { type DatedActivity, openStandingsStore, type StandingsStore } from '../src/index.ts';

export const ENGINES = ['lmdb', 'mongodb'] as const;

export type Place = {
  settings: { mongodbUrl?: string; dataDir: string };
  /** Opens the store; a second one shares the place. */
  open(environment?: 'sandbox' | 'production'): Promise<StandingsStore>;
  /** Closes every store opened and removes the place. */
  release(): Promise<void>;
};

/** An empty place for a store. */
export function newPlace(engine: (typeof ENGINES)[number]): Place {
  const folder = temporaryFolder();
  const database = engine === 'mongodb' ? freshMongodbUrl() : undefined;
  const settings = { mongodbUrl: database?.url, dataDir: folder.path };
  const opened: StandingsStore[] = [];
  return {
    settings,
    async open(environment = 'sandbox') {
      const store = await openStandingsStore({ ...settings, environment });
      opened.push(store);
      return store;
    },
    async release() {
      for (const store of opened) await store.close();
      await database?.drop();
      folder.remove();
    },
  };
}

/** An activity of one member with one partner in 2026, where the test says nothing else. */
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

/** An import of 3,000 activities of 60 members, half of them of one. */
export const IMPORT = Array.from({ length: 3_000 }, (_, index) =>
  activity(`import-${index}`, index, {
    stays: 1,
    memberId: index % 2 === 0 ? 'busy' : `member-${index % 59}`,
  }),
);
