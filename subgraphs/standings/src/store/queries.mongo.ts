// The reads of the standings store on MongoDB.
import type { Filter } from 'mongodb';
import type { ActivityDocument, Collections } from './collections.mongo.ts';

/** The ID of a standing's document. None of its parts contains a control character. */
export function standingId(of: { partnerId: string; memberId: string; year: string }): string {
  return `${of.partnerId}\0${of.memberId}\0${of.year}`;
}

/** Finds programs. */
export function programsQuery({ programs }: Pick<Collections, 'programs'>, partnerIds: string[]) {
  return programs.find({ _id: { $in: partnerIds } });
}

/** Finds the points and stays of standings. */
export function sumsQuery({ sums }: Pick<Collections, 'sums'>, ids: string[]) {
  return sums.find(
    { _id: { $in: ids } },
    { projection: { points: 1, stays: 1 }, batchSize: oneBatch(ids) },
  );
}

/** Finds whole standings, for a change. */
export function standingsQuery({ standings }: Pick<Collections, 'standings'>, ids: string[]) {
  return standings.find({ _id: { $in: ids } }, { batchSize: oneBatch(ids) });
}

/** Finds those of the activities that exist. */
export function activitiesQuery({ activities }: Pick<Collections, 'activities'>, ids: string[]) {
  return activities.find({ _id: { $in: ids } }, { batchSize: oneBatch(ids) });
}

/** Finds a page of a member's activities, by partner and in the order of time. */
export function memberActivitiesQuery(
  { activities }: Pick<Collections, 'activities'>,
  memberId: string,
  limit: number,
  after?: ActivityDocument,
) {
  return activities.find(
    { memberId, ...(after && { $or: laterThan(after) }) },
    { sort: { partnerId: 1, occurredAt: 1, _id: 1 }, limit, batchSize: limit + 1 },
  );
}

function laterThan({ partnerId, occurredAt, _id }: ActivityDocument): Filter<ActivityDocument>[] {
  return [
    { partnerId: { $gt: partnerId } },
    { partnerId, occurredAt: { $gt: occurredAt } },
    { partnerId, occurredAt, _id: { $gt: _id } },
  ];
}

/** Finds a member's standings: one for each partner and year. */
export function memberStandingsQuery(
  { standings }: Pick<Collections, 'standings'>,
  memberId: string,
) {
  return standings.find({ memberId }, { projection: { points: 1, stays: 1 }, batchSize: 10_000 });
}

/** The batch size with which the first reply contains every document. */
function oneBatch(keys: readonly string[]): number {
  return keys.length + 1;
}
