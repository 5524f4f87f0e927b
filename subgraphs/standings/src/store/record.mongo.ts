// Records a batch of activities on MongoDB in rounds, and finds out what became of each.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { MongoMarks } from '@partner-loyalty/runtime/store/marks/marks.mongo.ts';
import { type ActivityContent, type DatedActivity, isSameActivity } from '../rules/activity.ts';
import { addStandings, NO_ACTIVITY } from '../rules/standing.ts';
import type { ActivityDocument, Collections, StandingDocument } from './collections.mongo.ts';
import { deleteAll } from './member.mongo.ts';
import { closeStanding, mergedAmong } from './merges.mongo.ts';
import { shorten } from './outbox.mongo.ts';
import {
  activitiesQuery,
  activityIdOf,
  activityKey,
  standingId,
  standingsQuery,
} from './queries.mongo.ts';
import {
  type Change,
  carryOut,
  createStandings,
  decide,
  decidedBy,
  forget,
  insertPending,
  type PendingActivity,
  removeUnused,
} from './steps.mongo.ts';
import type { RecordOutcome } from './store.ts';

type Store = { collections: Collections; marks: MongoMarks };

/** `sentFor` is the ID of a member who was merged into the activity's. */
export type SentActivity = DatedActivity & { sentFor?: string };
/** An activity of the batch. `target` is where the activity with its ID counts, as far as known. */
type Entry = { activity: SentActivity; index: number; target: Target; exists: boolean };
type Target = { partnerId: string; memberId: string; year: string };
/** What became of an entry, and what counts under its ID, if anything does. */
type Result = { entry: Entry; outcome: RecordOutcome; counted?: ActivityContent };
/** An activity that no standing has decided about. */
type Undecided = { entry: Entry; found: PendingActivity };

const MAX_ATTEMPTS = 100;
/** A few rounds of another process, so that several writers of a standing soon are apart. */
const MAX_PAUSE_MS = 200;

/**
 * Records each activity once; the outcomes are in the order of the batch. If it rejects, some
 * activities may be recorded, and the batch can be repeated.
 */
export async function recordBatch(
  store: Store,
  batch: readonly SentActivity[],
): Promise<RecordOutcome[]> {
  const outcomes = new Array<RecordOutcome>(batch.length);
  let open = batch.map((activity, index): Entry => {
    return { activity, index, target: activity, exists: false };
  });
  for (let attempt = 1; open.length > 0; ) {
    const before = open.length;
    settle(await recordRound(store, open), open, outcomes);
    open = open.filter(({ index }) => outcomes[index] === undefined);
    if (open.length < before) continue;
    if (attempt === MAX_ATTEMPTS)
      throw new Error(`other writers changed a standing ${MAX_ATTEMPTS} times in a row`);
    await setTimeout(Math.random() * Math.min(2 ** attempt++, MAX_PAUSE_MS));
  }
  return outcomes;
}

function firstOfEachId(entries: readonly Entry[]): Entry[] {
  const first = new Map<string, Entry>();
  for (const entry of entries) {
    const key = activityKey(entry.activity);
    if (!first.has(key)) first.set(key, entry);
  }
  return [...first.values()];
}

/** Sets the outcomes of a round, and of the entries that repeat an ID, as far as they follow. */
function settle(results: Result[], open: readonly Entry[], outcomes: RecordOutcome[]): void {
  const byKey = new Map(results.map((result) => [activityKey(result.entry.activity), result]));
  for (const { activity, index } of open) {
    const result = byKey.get(activityKey(activity));
    if (result === undefined) continue;
    const { entry, outcome, counted } = result;
    if (entry.index === index) outcomes[index] = outcome;
    else if (counted !== undefined) outcomes[index] = outcomeOf(counted, activity);
    else if (isSameActivity(entry.activity, activity)) outcomes[index] = outcome;
  }
}

/** What becomes of an activity whose ID is that of an activity that counts. */
function outcomeOf(counted: ActivityContent, activity: DatedActivity): RecordOutcome {
  return isSameActivity(counted, activity) ? 'already-recorded' : 'conflict';
}

/**
 * Tries to record the first activity of each ID. Those without a result met another writer, who was
 * faster, and can be tried again.
 */
async function recordRound(store: Store, open: readonly Entry[]): Promise<Result[]> {
  const { collections, marks } = store;
  const entries = firstOfEachId(open);
  const memberIds = entries.flatMap(({ activity: { memberId, sentFor } }) =>
    sentFor === undefined ? memberId : [memberId, sentFor],
  );
  const [marked, standings] = await Promise.all([
    marks.among(memberIds),
    readStandings(collections, entries),
  ]);
  const results: Result[] = [];
  const kept = entries.filter((entry) => {
    const { memberId, sentFor = memberId } = entry.activity;
    const isErased = marked.has(memberId) || marked.has(sentFor);
    if (isErased) results.push({ entry, outcome: 'erased' });
    return !isErased;
  });
  // What these standings have decided is carried out before activities are looked at: one that is
  // pending after this was not decided about by any of these standings.
  const { undecided, created } = await prepare(collections, kept, standings, results);
  const concerned = new Set(
    [...kept.map(({ activity }) => activity), ...undecided.map(({ found }) => found)].map(
      ({ memberId }) => memberId,
    ),
  );
  const [erased, gone] = await Promise.all([
    marks.among(concerned),
    mergedAmong(collections, concerned),
  ]);
  for (const memberId of erased) await deleteAll(collections, memberId);
  for (const entry of kept)
    if (erased.has(entry.activity.memberId)) results.push({ entry, outcome: 'erased' });
  const isOpen = ({ memberId }: { memberId: string }) =>
    !erased.has(memberId) && !gone.has(memberId);
  const allowed = undecided.filter(({ entry, found }) => isOpen(found) && isOpen(entry.activity));
  // Whoever was merged meanwhile takes another round.
  for (const entry of open) {
    entry.activity = countedFor(entry.activity, gone);
    entry.target = countedFor(entry.target, gone);
  }
  const made = await count(collections, allowed, standings);
  await removeUnused(collections, created, made);
  return [...results, ...resultsOf(allowed, made)];
}

/** An activity, or its standing, of the member that its own one is part of now. */
function countedFor<T extends { memberId: string }>(
  one: T,
  merged: ReadonlyMap<string, string>,
): T {
  const memberId = merged.get(one.memberId);
  return memberId === undefined ? one : { ...one, memberId };
}

async function readStandings(
  collections: Collections,
  entries: readonly Entry[],
): Promise<Map<string, StandingDocument>> {
  const ids = [...new Set(entries.map(({ target }) => standingId(target)))];
  const found = await standingsQuery(collections, ids).toArray();
  return new Map(found.map((standing) => [standing._id, standing]));
}

/**
 * Makes each activity exist, and its standing, which is added to `standings`. Returns those that
 * these standings can decide about, and adds the results of those that count already.
 */
async function prepare(
  collections: Collections,
  entries: readonly Entry[],
  standings: Map<string, StandingDocument>,
  results: Result[],
): Promise<{ undecided: Undecided[]; created: StandingDocument[] }> {
  const missing = new Map(
    entries
      .map(({ target }) => ({ _id: standingId(target), memberId: target.memberId }))
      .filter(({ _id }) => !standings.has(_id))
      .map((standing) => [standing._id, standing]),
  );
  const fresh = entries.filter(({ exists }) => !exists).map(({ activity }) => activity);
  const decisions = [...standings.values()].flatMap((one) => decidedBy(one, one.recent));
  const [inserted, created] = await Promise.all([
    fresh.length > 0 ? insertPending(collections, fresh) : [],
    missing.size > 0 ? createStandings(collections, [...missing.values()]) : [],
    carryOut(collections, decisions),
  ]);
  for (const standing of created) standings.set(standing._id, standing);
  const found = new Map<string, ActivityDocument>(inserted.map((one) => [one._id, one]));
  const others = entries
    .map(({ activity }) => activityKey(activity))
    .filter((id) => !found.has(id));
  if (others.length > 0)
    for (const one of await activitiesQuery(collections, others).toArray()) found.set(one._id, one);
  await followMerged(collections, entries, found);
  const undecided = entries.flatMap((entry) => {
    const { activity } = entry;
    const one = found.get(activityKey(activity));
    entry.exists = one !== undefined;
    entry.target = one ?? activity;
    if (one === undefined) return [];
    const { pending } = one;
    if (pending !== undefined) return { entry, found: { ...one, pending } };
    results.push({ entry, outcome: outcomeOf(one, activity), counted: one });
    return [];
  });
  return { undecided, created };
}

/** Lets activities of merged members count for the members that these are part of now. */
async function followMerged(
  collections: Collections,
  entries: readonly Entry[],
  found: Map<string, ActivityDocument>,
): Promise<void> {
  const others = entries.flatMap(({ activity }) => {
    const one = found.get(activityKey(activity));
    return one !== undefined && one.memberId !== activity.memberId ? one : [];
  });
  const merged = await mergedAmong(collections, new Set(others.map(({ memberId }) => memberId)));
  for (const one of others.filter(({ memberId }) => merged.has(memberId))) {
    found.set(one._id, countedFor(one, merged));
    if (one.pending === undefined) continue;
    // If its own standing has not decided about it by now, that never will.
    await closeStanding(collections, standingId(one));
    const current = await collections.activities.findOne({ _id: one._id });
    if (current === null) found.delete(one._id);
    else found.set(one._id, countedFor(current, merged));
  }
}

/** Has the standings decide about activities, and carries it out. Returns the changes made. */
async function count(
  collections: Collections,
  undecided: readonly Undecided[],
  standings: ReadonlyMap<string, StandingDocument>,
): Promise<Change[]> {
  const changes = changesOf(undecided, standings);
  if (changes.length === 0) return [];
  const made = await decide(collections, changes);
  await carryOut(
    collections,
    made.flatMap(({ standing, decisions }) => decidedBy(standing, decisions)),
  );
  await forget(collections, made);
  await shorten(
    collections,
    made.map(({ standing }) => standing),
  );
  return made;
}

function resultsOf(undecided: readonly Undecided[], made: readonly Change[]): Result[] {
  const decisions = made.flatMap((change) => decidedBy(change.standing, change.decisions));
  const decided = new Map(decisions.map((decision) => [decision._id, decision]));
  return undecided.flatMap(({ entry, found }): Result[] => {
    const decision = decided.get(found._id);
    if (decision === undefined) return [];
    const isSame = isSameActivity(found, entry.activity);
    if (!decision.refused)
      return [{ entry, outcome: isSame ? 'recorded' : 'conflict', counted: found }];
    // If it was another activity, the ID is free now.
    entry.exists = false;
    return isSame ? [{ entry, outcome: 'out-of-range' }] : [];
  });
}

/** One change for each standing; an activity that would take its sums out of Int is refused. */
function changesOf(
  undecided: readonly Undecided[],
  standings: ReadonlyMap<string, StandingDocument>,
): Change[] {
  const changes = new Map<string, Change>();
  const at = Date.now();
  for (const { found } of undecided) {
    const id = standingId(found);
    const standing = standings.get(id);
    if (standing === undefined) continue;
    const change = changes.get(id) ?? { standing, added: NO_ACTIVITY, decisions: [], events: [] };
    changes.set(id, change);
    const added = addStandings(change.added, found);
    const fits = added !== undefined && addStandings(standing, added) !== undefined;
    const { _id, pending, points } = found;
    const activityId = activityIdOf(_id);
    if (fits) {
      const before = standing.points + change.added.points;
      change.events.push({ id: randomUUID(), occurredAt: at, activityId, points, before });
      change.added = added;
    }
    change.decisions.push({ id: activityId, pending, ...(!fits && { refused: true }) });
  }
  return [...changes.values()];
}
