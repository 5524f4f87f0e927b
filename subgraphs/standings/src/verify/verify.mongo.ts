// Verifies the standings store on MongoDB, where activities and sums are documents of their own.
import { setTimeout as pause } from 'node:timers/promises';
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { withMongo } from '@partner-loyalty/runtime/store/mongo.ts';
import { countAll, walk } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { Filter } from 'mongodb';
import {
  type ActivityDocument,
  type StandingDocument,
  strictCollections,
} from '../store/collections.mongo.ts';
import { mergedAmong, mergedInto } from '../store/merges.mongo.ts';
import {
  activityIdOf,
  activityKey,
  standingId,
  standingOf,
  standingsQuery,
} from '../store/queries.mongo.ts';
import {
  checkFeed,
  checkPartner,
  type Group,
  groupsOf,
  problemOf,
  reportStanding,
} from './sums.ts';

type Collections = ReturnType<typeof strictCollections>;

const BATCH = 500;
const ATTEMPTS = 5;

/** Reports what is wrong with the store. Resolves with the number of activities. */
export function verifyMongoStandings(
  url: string,
  environment: Environment,
  inspection: Inspection,
): Promise<number> {
  return withMongo(url, 'standings', environment, async (db) => {
    const collections = strictCollections(db);
    const checked = await checkSums(collections, inspection);
    await checkStandings(collections, inspection, checked.standings);
    const heads = new Map<string, number>();
    for await (const { _id, last } of walk(collections.eventHeads)) heads.set(_id, last);
    await checkFeed(walk(collections.events), heads, inspection);
    return checked.activities;
  });
}

/** Compares sums of activities with standings. Returns how many there are, and have a standing. */
async function checkSums(collections: Collections, inspection: Inspection) {
  const counts = { activities: 0, standings: 0 };
  async function* counted() {
    for await (const activity of activitiesIn(collections, {})) {
      counts.activities += 1;
      checkKey(activity, inspection);
      yield activity;
    }
  }
  let groups: Group[] = [];
  for await (const group of groupsOf(counted())) {
    await checkPartner(inspection, group);
    groups.push(group);
    if (groups.length < BATCH) continue;
    counts.standings += await checkGroups(collections, groups, inspection);
    groups = [];
  }
  counts.standings += await checkGroups(collections, groups, inspection);
  return counts;
}

/** Under another key, the same activity could be recorded again. */
function checkKey({ _id, partnerId }: ActivityDocument, { report }: Inspection): void {
  const activityId = activityIdOf(_id);
  if (_id !== activityKey({ partnerId, activityId }))
    report(
      `activity ${activityId}`,
      `the key is not that of an activity with partner ${partnerId}`,
    );
}

/**
 * What does not add up is looked at again, since activities may be recorded meanwhile. Returns how
 * many of the standings exist.
 */
async function checkGroups(
  collections: Collections,
  groups: readonly Group[],
  inspection: Inspection,
): Promise<number> {
  const sums = groups.flatMap((group) =>
    Array.from(group.years, ([year, expected]) => {
      return { _id: standingId({ ...group, year }), group, year, expected };
    }),
  );
  const ids = sums.map(({ _id }) => _id);
  const found = await standingsQuery(collections, ids).toArray();
  const standings = new Map(found.map((standing) => [standing._id, standing]));
  for (const { _id, group, year, expected } of sums) {
    if (problemOf(expected, standings.get(_id)) === undefined) continue;
    const problem = await problemNow(collections, _id, group, year);
    if (problem !== undefined) reportStanding(inspection, group, year, problem);
  }
  return found.length;
}

/** Reads a standing and its activities until nothing has changed in between. */
async function problemNow(
  collections: Collections,
  _id: string,
  { memberId, partnerId }: Pick<Group, 'memberId' | 'partnerId'>,
  year: string,
): Promise<string | undefined> {
  const { standings } = collections;
  // What a merged member has counts for the one that it is part of.
  if ((await mergedAmong(collections, [memberId])).has(memberId)) return undefined;
  const merged = (await mergedInto(collections, [memberId])).get(memberId) ?? [];
  let problem: string | undefined;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const before = await standings.findOne({ _id });
    const sum = { points: 0, stays: 0 };
    let isKnown = false;
    for await (const activity of activitiesIn(collections, {
      memberId: { $in: [memberId, ...merged] },
      partnerId,
      year,
    })) {
      if (!isCounted(activity, before)) continue;
      isKnown = true;
      sum.points += activity.points;
      sum.stays += activity.stays;
    }
    for (const from of merged.filter((one) => !before?.added?.includes(one))) {
      // A merge that was killed has not added them yet.
      const theirs = await standings.findOne({
        _id: standingId({ partnerId, memberId: from, year }),
      });
      sum.points -= theirs?.points ?? 0;
      sum.stays -= theirs?.stays ?? 0;
    }
    const after = await standings.findOne({ _id });
    const isEmpty = !isKnown && (before === null || (before.points === 0 && before.stays === 0));
    problem = isEmpty ? undefined : problemOf(sum, before ?? undefined);
    if (problem === undefined) return undefined;
    if (String(before?.version) === String(after?.version) && attempt > 1) return problem;
    await pause(20);
  }
  return problem;
}

/** A pending activity counts if the last change of its standing has added it. */
function isCounted({ _id, pending }: ActivityDocument, standing: StandingDocument | null): boolean {
  if (pending === undefined) return true;
  const activityId = activityIdOf(_id);
  return (standing?.recent ?? []).some(
    (one) =>
      one.id === activityId && String(one.pending) === String(pending) && one.refused !== true,
  );
}

/** Finds standings without activities, if there are more than `expected`. */
async function checkStandings(
  collections: Collections,
  inspection: Inspection,
  expected: number,
): Promise<void> {
  const { standings } = collections;
  if ((await countAll(standings)) === expected) return;
  for await (const { _id } of walk(standings)) {
    const { year, ...group } = standingOf(_id);
    const problem = await problemNow(collections, _id, group, year);
    if (problem !== undefined) reportStanding(inspection, group, year, problem);
  }
}

/** Activities by member, partner and time. */
function activitiesIn(
  { activities }: Collections,
  filter: Filter<ActivityDocument>,
): AsyncIterable<ActivityDocument> {
  return walk(activities, { filter, order: ['memberId', 'partnerId', 'occurredAt', '_id'] });
}
