// Inserts what a migration on MongoDB has read, even if other migrations insert the same.
import { setTimeout as pause } from 'node:timers/promises';
import { isSameActivity } from '../../rules/activity.ts';
import type { ActivityDocument, Collections } from '../collections.mongo.ts';
import { activitiesQuery, activityIdOf } from '../queries.mongo.ts';
import { insertNew } from '../steps.mongo.ts';

const ATTEMPTS = 10;

/**
 * Inserts those that no other migration has inserted: an earlier one, or one that runs now. An
 * insertion that the server ended because of another one is repeated.
 */
export async function insertOnce(
  collections: Pick<Collections, 'activities'>,
  wanted: readonly ActivityDocument[],
  attempt = 1,
): Promise<void> {
  if (wanted.length === 0) return;
  const inserted = new Set(await insertNew(collections.activities, wanted));
  const others = wanted.filter((one) => !inserted.has(one));
  if (others.length === 0) return;
  const keys = others.map(({ _id }) => _id);
  const found = new Map(
    (await activitiesQuery(collections, keys).toArray()).map((one) => [one._id, one]),
  );
  for (const activity of others) {
    const present = found.get(activity._id);
    if (present && !(present.year === activity.year && isSameActivity(present, activity)))
      throw new Error(`the ID ${activityIdOf(activity._id)} is that of two activities`);
  }
  const left = others.filter(({ _id }) => !found.has(_id));
  if (left.length === 0) return;
  if (attempt === ATTEMPTS)
    throw new Error('other writes kept activities from being inserted; migrate again');
  await pause(Math.random() * 50 * attempt);
  await insertOnce(collections, left, attempt + 1);
}

/** All of them, starting at random: concurrent migrations then begin with different ones. */
export function fromAnywhere<T>(all: readonly T[]): T[] {
  const first = Math.floor(Math.random() * all.length);
  return [...all.slice(first), ...all.slice(0, first)];
}
