// The sum of another year that counts for a tier, on MongoDB: it is in a document of its own.
import { oneResponse } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { PendingEvent } from '../rules/event.ts';
import type { Program } from '../rules/program.ts';
import { otherYearOf } from '../rules/tierchange.ts';
import type { Collections } from './collections.mongo.ts';
import { standingId } from './queries.mongo.ts';

/**
 * The events, those that need it with the points of the other year as they were at their place in
 * the order: what that year has by now, without what is still pending there.
 */
export async function withOtherYears(
  collections: Pick<Collections, 'standings' | 'outbox'>,
  pending: readonly PendingEvent[],
  programs: ReadonlyMap<string, Program | undefined>,
): Promise<readonly PendingEvent[]> {
  const others = new Map<PendingEvent, string>();
  for (const event of pending) {
    const { partnerId, year, occurredAt } = event;
    if (year === undefined) continue;
    const other = otherYearOf(programs.get(partnerId), year, new Date(occurredAt));
    if (other !== undefined) others.set(event, idOf(event, other));
  }
  if (others.size === 0) return pending;
  const points = await pointsBeforePending(collections, [...new Set(others.values())]);
  for (const event of pending.toReversed()) points.set(idOf(event), event.before ?? 0);
  return pending.map((event) => {
    const otherYear = points.get(others.get(event) ?? '');
    points.set(idOf(event), event.after ?? 0);
    return otherYear === undefined ? event : { ...event, otherYear };
  });
}

async function pointsBeforePending(
  { standings, outbox }: Pick<Collections, 'standings' | 'outbox'>,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const options = { projection: { points: 1, outbox: { $slice: 1 } } };
  const found = await standings
    .find({ _id: { $in: [...ids] } }, { ...options, ...oneResponse(ids.length) })
    .toArray();
  // Afterwards, since events move from there to here. The first ones of a standing come last.
  const moved = outbox.find(
    { $or: ids.map((id) => ({ _id: { $gt: `${id}\0`, $lt: `${id}\u0001` } })) },
    { ...options, sort: { _id: -1 } },
  );
  const points = new Map(
    found.map(({ _id, outbox: [first] = [], points }) => [_id, first?.before ?? points]),
  );
  for await (const { outbox: [first] = [] } of moved)
    if (first?.before !== undefined) points.set(idOf(first), first.before);
  return points;
}

/** The standing that an event is about; of another year if one is named. */
function idOf({ partnerId, memberId = '', year = '' }: PendingEvent, ofYear = year): string {
  return standingId({ partnerId, memberId, year: ofYear });
}
