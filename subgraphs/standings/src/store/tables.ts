// The tables of the standings store, and what their rows have.
import type { Key } from '@partner-loyalty/runtime/store/engine/keys.ts';
import {
  type Index,
  type Transaction,
  table,
} from '@partner-loyalty/runtime/store/engine/store.ts';
import { MARK_KEYS, MARKS } from '@partner-loyalty/runtime/store/marks/marks.ts';
import { storedTable } from '@partner-loyalty/runtime/store/tables.ts';
import type { Activity, ActivityContent } from '../rules/activity.ts';
import type { Program } from '../rules/program.ts';
import type { MemberStanding } from '../rules/standing.ts';
import { LEASES, type Lease } from './feed.ts';
import { shownProgram } from './programs.ts';
import { WEBHOOK_TABLES } from './webhooks.ts';

/**
 * All standings of a member. Whatever is recorded for the member writes this row, so it is what two
 * transactions about one member conflict by. There is none of an erased member.
 */
export type MemberRow = {
  standings: [partnerId: string, year: string, points: number, stays: number][];
  /** The time of the last events. Those of the next change are later, whatever the clock says. */
  changedAt?: number;
  /** The member that this one was merged into. */
  into?: string;
  /** The members that were merged into this one. */
  merged?: string[];
};

/** There are millions: what is 0 is left out. `at` is in milliseconds since 1970. */
export type ActivityRow = { memberId: string; points?: number; stays?: number; at: number };

export const PROGRAMS = table<Program>('programs', { nearby: true });
export const MEMBERS = table<MemberRow>('standings', { nearby: true });

/** The activities of each member, by partner and in the order of time. The key says it all. */
export const MEMBER_ACTIVITIES = table('memberActivities', { isUnique: true });
const BY_MEMBER: Index<ActivityRow> = {
  table: MEMBER_ACTIVITIES,
  entriesOf: ({ memberId, at }, [partnerId = '', activityId = '']) => [
    { key: [memberId, partnerId, timePart(at), activityId], row: {} },
  ],
  rowKeyOf: ({ key }) => activityKeyOf(key),
};
/** By partner and the partner's own ID. */
export const ACTIVITIES = table<ActivityRow>('activities', { indexes: [BY_MEMBER] });

/**
 * Events of one partner and time without positions: by their time, then in the order in which a
 * process has made them. `events` is what encodeChange makes of them.
 */
export const PENDING = table<{ partnerId: string; count: number; events: string }>(
  'pendingEvents',
  { isUnique: true },
);
/** Events with one position after the other, by partner and the first position. */
export const EVENTS = table<{ events: string }>('events', { isUnique: true });
/** The last position of each partner, and the day on which it was given. */
export const HEADS = table<{ last: number; day: number }>('eventHeads');
/** The last position of each partner on each day. */
export const DAYS = table<{ last: number }>('eventDays');
/** One row: up to when the ends of membership years have events. */
export const YEARS = table<{ until: number }>('eventYears');
/**
 * One row: the IDs of the events of members that got positions last, and how often a member was
 * erased, by which an erasure conflicts with the sequencer.
 */
export const SEQUENCER = table<{ taken: string[]; erasures: number }>('sequencer');
/** The key of the row of a table with one row. */
export const ONLY = ['only'];
export const LEASE_ROWS = storedTable<Lease>(LEASES);

export const TABLES = [
  ...[PROGRAMS, MEMBERS, ACTIVITIES, PENDING, EVENTS, HEADS, DAYS, YEARS, SEQUENCER, LEASE_ROWS],
  ...[MARKS, MARK_KEYS],
  ...WEBHOOK_TABLES,
];

/** How many rows a transaction writes or a read finds, at most about. */
export const SLICE = 200;

/** The year 0 in milliseconds before 1970: keys have no negative numbers. */
const EPOCH_SHIFT = 62_167_219_200_000;

/** A time as a part of a key. */
export function timePart(at: number): number {
  return Math.max(0, at + EPOCH_SHIFT);
}

/** The key of the activity that an entry of MEMBER_ACTIVITIES is for. */
export function activityKeyOf([, partnerId = '', , activityId = '']: Key): Key {
  return [partnerId, activityId];
}

export function storedActivity({ memberId, points, stays, occurredAt }: ActivityContent) {
  const at = occurredAt.getTime();
  return { memberId, at, ...(points !== 0 && { points }), ...(stays !== 0 && { stays }) };
}

export function activityIn([partnerId, activityId]: Key, row: ActivityRow): Activity {
  const { memberId, points = 0, stays = 0, at } = row;
  const occurredAt = new Date(at);
  return {
    ...{ activityId: String(activityId), partnerId: String(partnerId) },
    ...{ memberId, points, stays, occurredAt },
  };
}

export function standingsIn(row: MemberRow | undefined): MemberStanding[] {
  return (row?.standings ?? []).map(([partnerId, year, points, stays]) => {
    return { partnerId, year, points, stays };
  });
}

export function storedStandings(standings: readonly MemberStanding[]): MemberRow['standings'] {
  return standings.map(({ partnerId, year, points, stays }) => [partnerId, year, points, stays]);
}

/** A partner's program, which others may change before the transaction ends. */
export function programIn(tx: Transaction, partnerId: string): Program | undefined {
  return shownProgram(tx.peek(PROGRAMS, [partnerId]));
}
