// The sum of another year that counts for a tier, on MongoDB: it is in a document of its own.
import { oneResponse } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { PendingEvent } from '../rules/event.ts';
import type { Program } from '../rules/program.ts';
import { otherYearOf, tierOf } from '../rules/tiers.ts';
import type { Collections } from './collections.mongo.ts';
import { standingId, standingOf } from './queries.mongo.ts';

/**
 * By the IDs of the events that need it, the points of the other year as they were at the event's
 * place in the order: what that year has by now, without what is still pending there.
 */
export async function otherYearsOf(
  collections: Pick<Collections, 'standings' | 'outbox'>,
  pending: readonly PendingEvent[],
  programs: ReadonlyMap<string, Program | undefined>,
): Promise<ReadonlyMap<string, number | undefined>> {
  const others = new Map<string, string>();
  for (const event of pending) {
    const { id, partnerId, occurredAt, yearPoints } = event;
    if (yearPoints === undefined) continue;
    const program = programs.get(partnerId);
    if (tierOf(program, yearPoints.before) === tierOf(program, yearPoints.after)) continue;
    const other = otherYearOf(program, yearPoints.year, new Date(occurredAt));
    if (other !== undefined) others.set(id, idOf(event, other));
  }
  const found = new Map<string, number | undefined>();
  if (others.size === 0) return found;
  const points = await pointsBeforePending(collections, [...new Set(others.values())]);
  for (const event of pending.toReversed())
    if (event.yearPoints !== undefined) points.set(idOf(event), event.yearPoints.before);
  for (const event of pending) {
    found.set(event.id, points.get(others.get(event.id) ?? ''));
    if (event.yearPoints !== undefined) points.set(idOf(event), event.yearPoints.after);
  }
  return found;
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
    found.map(({ _id, outbox: [first] = [], points }) => [
      _id,
      first !== undefined && 'before' in first ? first.before : points,
    ]),
  );
  for await (const { _id, outbox: [first] = [] } of moved)
    if (first !== undefined && 'before' in first)
      points.set(standingId(standingOf(_id)), first.before);
  return points;
}

/** The standing that an event is about; of another year if one is named. */
function idOf({ partnerId, memberId = '', yearPoints }: PendingEvent, year?: string): string {
  return standingId({ partnerId, memberId, year: year ?? yearPoints?.year ?? '' });
}
