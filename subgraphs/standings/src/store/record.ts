// Records a batch of activities: what becomes of each, the sums, and the events.
import type { Key } from '@partner-loyalty/runtime/store/engine/keys.ts';
import type { Reads, Transaction } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { Marks } from '@partner-loyalty/runtime/store/marks/marks.ts';
import { type DatedActivity, isSameActivity } from '../rules/activity.ts';
import { type NewEvent, pointsChanged } from '../rules/event.ts';
import type { Program } from '../rules/program.ts';
import { addStandings, NO_ACTIVITY, type Standing } from '../rules/standing.ts';
import { tierChangeOf } from '../rules/tiers.ts';
import { putPending } from './pending.ts';
import {
  ACTIVITIES,
  type ActivityRow,
  activityIn,
  MEMBERS,
  type MemberRow,
  PROGRAMS,
  programIn,
  storedActivity,
} from './tables.ts';

/**
 * What became of an activity: recorded now, recorded before, or refused, because its ID is recorded
 * with other content, because a sum would leave the range of Int, or because its member was erased.
 */
export type RecordOutcome =
  | 'recorded'
  | 'already-recorded'
  | 'conflict'
  | 'out-of-range'
  | 'erased';

const keyOf = ({ partnerId, activityId }: DatedActivity): Key => [partnerId, activityId];

/** The member that an activity counts for. */
type Counted = { memberId?: string; row?: MemberRow | undefined; isErased?: boolean };
const NOBODY: Counted = {};

/** What recordBatch reads at first. */
export function readsOf(batch: readonly DatedActivity[]): Reads[] {
  const each = (ids: readonly string[]) => Array.from(new Set(ids), (id) => [id]);
  return [
    { table: MEMBERS, keys: each(batch.map(({ memberId }) => memberId)) },
    { table: PROGRAMS, keys: each(batch.map(({ partnerId }) => partnerId)) },
    { table: ACTIVITIES, keys: batch.map(keyOf) },
  ];
}

/** The outcomes are in the order of the batch. `order` is as in putPending. */
export function recordBatch(
  tx: Transaction,
  marks: Marks,
  batch: readonly DatedActivity[],
  order: number,
): RecordOutcome[] {
  const members = countedMembers(tx, marks, batch);
  const keys = batch.map(keyOf);
  // `put` gets those that are recorded, since the table has an index.
  const found = tx.peekAll(ACTIVITIES, keys);
  const recorded = new Map<string, ActivityRow>();
  const sums = new Map<string, Sums>();
  const programs = new Map<string, Program | undefined>();
  const events: NewEvent[] = [];
  const at = Math.max(
    Date.now(),
    ...Array.from(members.values(), ({ row }) => (row?.changedAt ?? 0) + 1),
  );

  const outcomes = batch.map((sent, place): RecordOutcome => {
    const { memberId = sent.memberId, row, isErased } = members.get(sent.memberId) ?? NOBODY;
    if (isErased) return 'erased';
    const { partnerId, year } = sent;
    const key = keys[place] ?? [];
    const text = key.join('\0'); // Neither part contains a control character.
    const activity = memberId === sent.memberId ? sent : { ...sent, memberId };
    const known = recorded.get(text) ?? found[place];
    if (known !== undefined) {
      const isOwn = row?.merged?.includes(known.memberId);
      const content = activityIn(key, isOwn ? { ...known, memberId } : known);
      return isSameActivity(content, activity) ? 'already-recorded' : 'conflict';
    }
    const own = sums.get(memberId) ?? { row, standings: [...(row?.standings ?? [])] };
    const before = sumOf(own, partnerId, year) ?? NO_ACTIVITY;
    const after = addStandings(before, activity);
    if (after === undefined) return 'out-of-range';
    setSum(own, partnerId, year, after);
    // The row first, so that a transaction that has lost it to another one ends early.
    if (!sums.has(memberId)) tx.get(MEMBERS, [memberId]);
    sums.set(memberId, own);
    const stored = storedActivity(activity);
    recorded.set(text, stored);
    tx.put(ACTIVITIES, key, stored);
    if (!programs.has(partnerId)) programs.set(partnerId, programIn(tx, partnerId));
    const event = pointsChanged(activity, at);
    const yearPoints = { year, before: before.points, after: after.points };
    const tierChange = tierChangeOf(
      event,
      yearPoints,
      programs.get(partnerId),
      (other) => sumOf(own, partnerId, other)?.points,
    );
    events.push(event);
    if (tierChange !== undefined) events.push(tierChange);
    return 'recorded';
  });
  for (const [memberId, { row, standings }] of sums)
    tx.put(MEMBERS, [memberId], { ...row, standings, changedAt: at });
  putPending(tx, at, events, order);
  return outcomes;
}

/**
 * By the ID that an activity is sent with, the member that it counts for. A member whose row is
 * there, and who has no part in a merge, is not erased; of everybody else, the mark decides.
 */
function countedMembers(
  tx: Transaction,
  marks: Marks,
  batch: readonly DatedActivity[],
): Map<string, Counted> {
  const sent = [...new Set(batch.map(({ memberId }) => memberId))];
  const rows = rowsOf(tx, sent);
  const current = sent.map((memberId) => rows.get(memberId)?.into ?? memberId);
  const others = rowsOf(
    tx,
    current.filter((memberId) => !rows.has(memberId)),
  );
  for (const [memberId, row] of others) rows.set(memberId, row);
  const doubtful = [...rows].filter(([, row]) => !row || row.into || row.merged);
  const erased = marks.among(
    tx,
    doubtful.map(([memberId]) => memberId),
  );
  return new Map(
    sent.map((id, place) => {
      const memberId = current[place] ?? id;
      const isErased = erased.has(id) || erased.has(memberId);
      return [id, { memberId, row: rows.get(memberId), isErased }];
    }),
  );
}

/** At a row that is not written, the rule only peeks: an absent one could not be checked. */
function rowsOf(tx: Transaction, memberIds: readonly string[]) {
  const found = tx.peekAll(
    MEMBERS,
    memberIds.map((memberId) => [memberId]),
  );
  return new Map(memberIds.map((memberId, place) => [memberId, found[place]]));
}

/** The sums of a member, as they change. */
type Sums = { row: MemberRow | undefined; standings: MemberRow['standings'] };

function sumOf({ standings }: Sums, partnerId: string, year: string): Standing | undefined {
  const found = standings.find((one) => one[0] === partnerId && one[1] === year);
  return found && { points: found[2], stays: found[3] };
}

function setSum({ standings }: Sums, partnerId: string, year: string, sum: Standing): void {
  const place = standings.findIndex((one) => one[0] === partnerId && one[1] === year);
  const { points, stays } = sum;
  standings[place === -1 ? standings.length : place] = [partnerId, year, points, stays];
}
