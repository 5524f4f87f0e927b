// The reads of the standings store on MongoDB.
import {
  onePage,
  oneResponse,
  type Walk,
} from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { Filter } from 'mongodb';
import type { ActivityDocument, Collections } from './collections.mongo.ts';
import type { Before } from './store.ts';

/** More than a member can have: one for each partner and year. */
const MAX_STANDINGS = 10_000;

/** Each change of a document writes its outbox anew, so a longer one is moved out of it. */
const MAX_OUTBOX = 4;

/** The ID of a standing's document. None of its parts contains a control character. */
export function standingId(key: { partnerId: string; memberId: string; year: string }): string {
  return `${key.partnerId}\0${key.memberId}\0${key.year}`;
}

/** What the ID of a standing's document, or of a copy of its outbox, is made of. */
export function standingOf(_id: string) {
  const [partnerId = '', memberId = '', year = ''] = _id.split('\0');
  return { partnerId, memberId, year };
}

/** The ID of an activity's document. Neither part contains a control character. */
export function activityKey(key: { partnerId: string; activityId: string }): string {
  return `${key.partnerId}\0${key.activityId}`;
}

/** The partner's own ID of the activity with this key. */
export function activityIdOf(key: string): string {
  return key.slice(key.indexOf('\0') + 1);
}

/** The partner that a standing is with. */
export function partnerOf(standing: string): string {
  return standing.slice(0, standing.indexOf('\0'));
}

export function programsQuery({ programs }: Pick<Collections, 'programs'>, partnerIds: string[]) {
  return programs.find({ _id: { $in: partnerIds } }, oneResponse(partnerIds.length));
}

/** Finds the points and stays of standings. */
export function sumsQuery({ sums }: Pick<Collections, 'sums'>, ids: string[]) {
  return sums.find(
    { _id: { $in: ids } },
    { projection: { points: 1, stays: 1 }, ...oneResponse(ids.length) },
  );
}

/** Finds standings for a change, with one event if they have more than MAX_OUTBOX. */
export function standingsQuery({ standings }: Pick<Collections, 'standings'>, ids: string[]) {
  const projection = { outbox: { $slice: [MAX_OUTBOX, 1] } };
  return standings.find({ _id: { $in: ids } }, { projection, ...oneResponse(ids.length) });
}

/** Finds those of the activities that exist. */
export function activitiesQuery({ activities }: Pick<Collections, 'activities'>, keys: string[]) {
  return activities.find({ _id: { $in: keys } }, oneResponse(keys.length));
}

/** A walk over a member's activities, by partner and in the order of time. */
export function memberActivities(memberId: string): Walk<ActivityDocument> {
  return { filter: { memberId }, order: ['partnerId', 'occurredAt', '_id'], pageSize: 1_000 };
}

/** The queries of a member's newest activities with a partner, newest first, in their order. */
export function latestActivitiesQueries(
  { activities }: Pick<Collections, 'activities'>,
  partnerId: string,
  memberId: string,
  limit: number,
  before?: Before,
) {
  const counted = { memberId, partnerId, pending: { $exists: false } };
  const options = { sort: { occurredAt: -1, _id: -1 }, ...onePage(limit) } as const;
  const find = (where: Filter<ActivityDocument>) =>
    activities.find({ ...counted, ...where }, options);
  if (before === undefined) return [find({})];
  const occurredAt = new Date(before.occurredAtMs);
  const earlier = find({ occurredAt: { $lt: occurredAt } });
  // Two queries, each of one range of the index.
  return before.activityId === undefined
    ? [earlier]
    : [
        find({
          occurredAt,
          _id: { $lt: activityKey({ partnerId, activityId: before.activityId }) },
        }),
        earlier,
      ];
}

/** Finds a member's standings: one for each partner and year. */
export function memberStandingsQuery(
  { standings }: Pick<Collections, 'standings'>,
  memberId: string,
) {
  const projection = { points: 1, stays: 1 } as const;
  return standings.find({ memberId }, { projection, ...oneResponse(MAX_STANDINGS) });
}
