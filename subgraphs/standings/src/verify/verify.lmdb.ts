// Verifies the standings store on LMDB: activities, the index of members, and the sums.
import { type Inspection, UNREADABLE } from '@partner-loyalty/runtime/store/inspection.ts';
import { lmdbVerifier, type Snapshot } from '@partner-loyalty/runtime/store/snapshot.lmdb.ts';
import type { Program } from '../rules/program.ts';
import { yearOf } from '../rules/year.ts';
import type { Block } from '../store/feed.ts';
import {
  type ActivityKey,
  activityKeyOf,
  type BlockKey,
  decodeActivity,
  decodeBlock,
  decodeStanding,
  type EventHead,
  type MemberActivityKey,
  memberActivityKey,
  openTables,
  type StandingKey,
  type StoredActivity,
  type StoredStanding,
  type Tables,
} from '../store/tables.lmdb.ts';
import {
  checkFeed,
  checkPartner,
  type Earned,
  groupsOf,
  problemOf,
  reportStanding,
} from './sums.ts';

/** Reports what is wrong with the store. Resolves with the number of activities. */
export const verifyLmdbStandings = lmdbVerifier(
  'standings',
  openTables,
  async (tables, snapshot, inspection) => {
    const { count, found } = checkActivities(tables, snapshot, inspection);
    if (found !== snapshot.count(tables.memberActivities)) checkIndex(tables, snapshot, inspection);
    await checkSums(tables, snapshot, inspection);
    await checkFeed(feedIn(tables, snapshot, inspection), headsIn(tables, snapshot), inspection);
    return count;
  },
);

/** The blocks of the feed, by partner and position. */
function* feedIn(tables: Tables, snapshot: Snapshot, { report }: Inspection): Generator<Block> {
  const unreadable = ([partnerId, first]: BlockKey) =>
    report(`event ${first} of partner ${partnerId}`, 'the record cannot be read');
  for (const { key, value } of snapshot.records(tables.events, unreadable)) {
    const [partnerId, first] = key;
    try {
      yield { partnerId, first, events: decodeBlock(key, value) };
    } catch {
      unreadable(key);
    }
  }
}

function headsIn({ eventHeads }: Tables, snapshot: Snapshot): Map<string, number> {
  const heads = snapshot.records<EventHead, string>(eventHeads, () => {});
  return new Map(Array.from(heads, ({ key, value: [last] }) => [key, last]));
}

/** Returns how many there are, and how many of them the index has. */
function checkActivities(tables: Tables, snapshot: Snapshot, { report }: Inspection) {
  let count = 0;
  let found = 0;
  const unreadable = ([, id]: ActivityKey) => report(`activity ${id}`, 'the record cannot be read');
  for (const { key, value } of snapshot.records(tables.activities, unreadable)) {
    count += 1;
    if (!isActivity(value)) report(`activity ${key[1]}`, 'the record is not valid');
    else if (snapshot.get(tables.memberActivities, memberActivityKey(key, value)) === undefined)
      report(`activity ${key[1]}`, `the index of member ${value[0]} does not have it`);
    else found += 1;
  }
  return { count, found };
}

function isActivity(value: unknown): value is StoredActivity {
  if (!Array.isArray(value) || value.length !== 4) return false;
  const [memberId, ...numbers] = value;
  return typeof memberId === 'string' && numbers.every(Number.isInteger);
}

/** Finds the entries of the index that lead to no activity, or to another one. */
function checkIndex(tables: Tables, snapshot: Snapshot, { report }: Inspection): void {
  for (const key of snapshot.keys(tables.memberActivities)) {
    if (isMerged(tables, snapshot, key)) continue;
    const activityKey = activityKeyOf(key);
    const stored = snapshot.get(tables.activities, activityKey);
    const isSame =
      isActivity(stored) &&
      JSON.stringify(memberActivityKey(activityKey, stored)) === JSON.stringify(key);
    // An activity that cannot be read has been reported.
    if (!isSame && stored !== UNREADABLE)
      report(
        `member ${key[0]}`,
        `the index has activity ${activityKey[1]}, which is not the member's`,
      );
  }
}

/** Whether an entry is what a merge that was killed has left of the member who goes. */
function isMerged({ merged }: Tables, snapshot: Snapshot, [memberId]: MemberActivityKey): boolean {
  return snapshot.get(merged, memberId) !== undefined;
}

/** If there are no more standings than those found by activities, none is without activities. */
async function checkSums(
  tables: Tables,
  snapshot: Snapshot,
  inspection: Inspection,
): Promise<void> {
  let found = 0;
  for await (const group of groupsOf(earnedIn(tables, snapshot))) {
    await checkPartner(inspection, group);
    for (const [year, expected] of group.years) {
      const stored = snapshot.get(tables.standings, [group.partnerId, group.memberId, year]);
      if (stored !== undefined) found += 1;
      const problem =
        stored === UNREADABLE
          ? 'cannot be read'
          : problemOf(expected, stored && decodeStanding(stored));
      if (problem !== undefined) reportStanding(inspection, group, year, problem);
    }
  }
  if (found !== snapshot.count(tables.standings)) checkStandings(tables, snapshot, inspection);
}

function* earnedIn(tables: Tables, snapshot: Snapshot): Generator<Earned> {
  const programs = new Map<string, Program | undefined>();
  for (const key of snapshot.keys(tables.memberActivities)) {
    if (isMerged(tables, snapshot, key)) continue;
    const activityKey = activityKeyOf(key);
    const stored = snapshot.get(tables.activities, activityKey);
    if (!isActivity(stored)) continue;
    const activity = decodeActivity(activityKey, stored);
    const { partnerId } = activity;
    if (!programs.has(partnerId)) programs.set(partnerId, programOf(tables, snapshot, partnerId));
    yield { ...activity, year: yearOf(programs.get(partnerId), activity.occurredAt) };
  }
}

function programOf(tables: Tables, snapshot: Snapshot, partnerId: string): Program | undefined {
  const program = snapshot.get(tables.programs, partnerId);
  return program === UNREADABLE ? undefined : program;
}

/** Finds the standings without activities. */
function checkStandings(tables: Tables, snapshot: Snapshot, inspection: Inspection): void {
  const unreadable = ([partnerId, memberId, year]: StandingKey) =>
    reportStanding(inspection, { memberId, partnerId }, year, 'cannot be read');
  for (const { key } of snapshot.records<StoredStanding, StandingKey>(
    tables.standings,
    unreadable,
  )) {
    const [partnerId, memberId, year] = key;
    if (!hasActivity(tables, snapshot, key))
      reportStanding(inspection, { memberId, partnerId }, year, 'has sums, but no activities');
  }
}

function hasActivity(tables: Tables, snapshot: Snapshot, standing: StandingKey): boolean {
  const [partnerId, memberId, year] = standing;
  const program = programOf(tables, snapshot, partnerId);
  for (const key of snapshot.keysFrom(tables.memberActivities, [memberId, partnerId])) {
    if (key[0] !== memberId || key[1] !== partnerId) return false;
    if (yearOf(program, new Date(key[2])) === year) return true;
  }
  return false;
}
