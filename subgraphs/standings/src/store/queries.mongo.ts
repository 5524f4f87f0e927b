// The reads of the standings store on MongoDB.
import { oneReply, type Walk } from '@partner-loyalty/runtime/mongo-reads';
import type { ActivityDocument, Collections } from './collections.mongo.ts';

/** More than a member can have: one for each partner and year. */
const MAX_STANDINGS = 10_000;

/** The ID of a standing's document. None of its parts contains a control character. */
export function standingId(of: { partnerId: string; memberId: string; year: string }): string {
  return `${of.partnerId}\0${of.memberId}\0${of.year}`;
}

/** Finds programs. */
export function programsQuery({ programs }: Pick<Collections, 'programs'>, partnerIds: string[]) {
  return programs.find({ _id: { $in: partnerIds } }, oneReply(partnerIds.length));
}

/** Finds the points and stays of standings. */
export function sumsQuery({ sums }: Pick<Collections, 'sums'>, ids: string[]) {
  return sums.find(
    { _id: { $in: ids } },
    { projection: { points: 1, stays: 1 }, ...oneReply(ids.length) },
  );
}

/** Finds whole standings, for a change. */
export function standingsQuery({ standings }: Pick<Collections, 'standings'>, ids: string[]) {
  return standings.find({ _id: { $in: ids } }, oneReply(ids.length));
}

/** Finds those of the activities that exist. */
export function activitiesQuery({ activities }: Pick<Collections, 'activities'>, ids: string[]) {
  return activities.find({ _id: { $in: ids } }, oneReply(ids.length));
}

/** A walk over a member's activities, by partner and in the order of time. */
export function memberActivities(memberId: string): Walk<ActivityDocument> {
  return { filter: { memberId }, order: ['partnerId', 'occurredAt', '_id'], pageSize: 1_000 };
}

/** Finds a member's standings: one for each partner and year. */
export function memberStandingsQuery(
  { standings }: Pick<Collections, 'standings'>,
  memberId: string,
) {
  const projection = { points: 1, stays: 1 } as const;
  return standings.find({ memberId }, { projection, ...oneReply(MAX_STANDINGS) });
}
