// The members store on MongoDB: a document for each member, and no transactions.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { batchLoad } from '@partner-loyalty/runtime/eventloop/batchload.ts';
import {
  type MongoMarks,
  openMongoMarks,
} from '@partner-loyalty/runtime/store/marks/marks.mongo.ts';
import { type Mongo, openMongo } from '@partner-loyalty/runtime/store/mongo.ts';
import { mongoTables } from '@partner-loyalty/runtime/store/table.mongo.ts';
import { createRights } from '../rights/rights.ts';
import { enrolledMark } from '../rules/enrollment.ts';
import type { ImportResult, MemberImport } from '../rules/member.ts';
import type { KeyVault } from '../signingkeys/signingkey.ts';
import { type MembersTables, openMembersTables } from '../tables/tables.ts';
import { applyRule, claimedKeys, idsOf, importTogether } from './apply.mongo.ts';
import {
  eraseDocument,
  findByIds,
  findByKeys,
  isTombstone,
  type MembersCollection,
  openMembers,
  versionedRecord,
} from './documents.mongo.ts';
import { type ApplyRule, createEnrollmentStore, type Engine } from './engine.ts';
import { createMongoEvents } from './events.mongo.ts';
import { createKeyLock, type KeyLock } from './keylock.ts';
import { stampIfLate } from './late.ts';
import { buildLists, listMembers } from './list.mongo.ts';
import { createLockStore } from './lockstore.ts';
import { createMongoLookUp } from './lookup.mongo.ts';
import { switchOver } from './merge.mongo.ts';
import { createMongoRightsEngine } from './rights.mongo.ts';
import type { BuildProgress, MembersStore } from './store.ts';
import { createTokenStore } from './tokenstore.ts';

const IMPORTED_TOGETHER = 500;
const EXISTING = { erasedAt: { $exists: false } };

/**
 * Opens the store in the URL's database. Throws if the server cannot be reached or the store
 * belongs to the other environment.
 */
export function openMongoMembersStore(
  url: string,
  environment: Environment,
  vault: KeyVault,
  dataDir: string,
  onProgress: BuildProgress,
): Promise<MembersStore> {
  return openMongo(url, 'members', environment, async (mongo) => {
    const members = await openMembers(mongo.db);
    await buildLists(mongo.db, members, onProgress);
    return createMongoMembersStore(mongo, {
      members,
      others: await openMembersTables(mongoTables(mongo.db), vault),
      marks: await openMongoMarks(mongo.db, 'memberMarks'),
      dataDir,
    });
  });
}

/** Replaces a document only if it is still the one that was read, so it needs no transactions. */
function createMongoMembersStore(
  mongo: Mongo,
  parts: {
    members: MembersCollection;
    others: MembersTables;
    marks: MongoMarks;
    dataDir: string;
  },
): MembersStore {
  const { members, others, marks, dataDir } = parts;
  const lookUp = createMongoLookUp(members, marks);
  // One of two concurrent writes of a key would only have to start over; DocumentDB even lets both
  // wait until it cancels one.
  const lock = createKeyLock();
  const apply: ApplyRule = (ids, keys, rule) =>
    lock([...ids, ...keys], () => applyRule(members, ids, keys, rule));
  const find = (key: string) => recordByKey(members, key);
  const engine: Engine = { find, apply };
  const rights = createMongoRightsEngine({ members, marks, find, apply });

  return {
    memberByEmail: async (partnerId, value) =>
      (await lookUp(partnerId, { by: 'email', value })).member,
    memberByExternalId: async (partnerId, value) =>
      (await lookUp(partnerId, { by: 'externalId', value })).member,
    memberById: async (partnerId, value) =>
      (await lookUp(partnerId, { by: 'memberId', value })).member,
    lookUp: (partnerId, keys) => Promise.all(keys.map((key) => lookUp(partnerId, key))),
    list: (query) => listMembers(members, query),
    member: batchLoad((ids) => recordsById(members, ids)),
    ...createEnrollmentStore(engine),
    importMembers: (imports) => importInParts(members, marks, lock, imports),
    tokens: createTokenStore(engine),
    events: createMongoEvents(members),
    locks: createLockStore(engine),
    async merge(pair) {
      const since = Date.now();
      await switchOver(members, pair);
      await stampIfLate(apply, [pair.into], since);
    },
    rights: createRights({ engine: rights, ...others, dataDir }),
    ...others,
    isEmpty: async () => (await members.findOne(EXISTING, { projection: { _id: 1 } })) === null,
    ready: mongo.ready,
    close: mongo.close,
  };
}

async function recordsById(members: MembersCollection, ids: readonly string[]) {
  const documents = await existing(members, ids);
  return new Map(documents.map((found) => [found._id, versionedRecord(found).record]));
}

async function existing(members: MembersCollection, ids: readonly string[]) {
  return (await findByIds(members, ids).toArray()).filter((found) => !isTombstone(found));
}

async function recordByKey(members: MembersCollection, key: string) {
  const [found] = await findByKeys(members, [key]).toArray();
  return found && versionedRecord(found).record;
}

async function importInParts(
  members: MembersCollection,
  marks: MongoMarks,
  lock: KeyLock,
  imports: readonly MemberImport[],
): Promise<ImportResult[]> {
  const results: ImportResult[] = [];
  for (let from = 0; from < imports.length; from += IMPORTED_TOGETHER) {
    const part = imports.slice(from, from + IMPORTED_TOGETHER);
    const erased = await marks.among(idsOf(part));
    const isErased = ({ memberId }: MemberImport) => memberId !== undefined && erased.has(memberId);
    const wanted = part.filter((one) => !isErased(one));
    const locked = [...idsOf(wanted), ...claimedKeys(wanted)];
    const imported = await lock(locked, () => importTogether(members, wanted));
    await removeErased(members, marks, wanted, imported);
    const outcomes = imported.values();
    for (const one of part)
      results.push(isErased(one) ? 'erased' : (outcomes.next().value ?? 'erased'));
  }
  return results;
}

/**
 * Removes members who were added after their erasure had begun: it sets the mark first, so whoever
 * added one after it sees the mark now. Changes their results.
 */
async function removeErased(
  members: MembersCollection,
  marks: MongoMarks,
  imports: readonly MemberImport[],
  results: ImportResult[],
): Promise<void> {
  const added = imports.filter((_, index) => results[index] === 'added');
  const erased = await marks.among(idsOf(added));
  if (erased.size === 0) return;
  for (let left = [...erased]; left.length > 0; ) {
    const documents = await existing(members, left);
    for (const { _id, enrollments } of documents)
      for (const { partnerId } of enrollments)
        await marks.add(enrolledMark(partnerId, _id), new Date());
    const removed = await Promise.all(documents.map((one) => eraseDocument(members, one)));
    left = documents.filter((_, index) => !removed[index]).map(({ _id }) => _id);
  }
  for (const [index, { memberId }] of imports.entries())
    if (memberId !== undefined && erased.has(memberId)) results[index] = 'erased';
}
