// The members store on MongoDB: a document per member, written over only while it is the one that was read, so no transactions are needed.
import { setTimeout } from 'node:timers/promises';
import { batchLoad, type Environment, type Mongo, openMongo } from '@partner-loyalty/runtime';
import type { Collection } from 'mongodb';
import { openMongoOutbox } from '../outbox/outbox.mongo.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { createMongoMailPartners } from '../outbox/partner.mongo.ts';
import { endEnrollment, enroll, importMember, type MemberRecords } from '../rules/enrollment.ts';
import { addressKey, enrolledKey, externalKey } from '../rules/record.ts';
import { createMongoSigningKeys } from '../signingkeys/signingkey.mongo.ts';
import {
  heldOf,
  identitiesByKey,
  idsQuery,
  keysQuery,
  type MemberDocument,
  openMembers,
} from './documents.mongo.ts';
import { createKeyLock } from './keylock.ts';
import type { ImportResult, MemberImport, MembersStore } from './store.ts';
import { createTokenStore } from './tokenstore.ts';
import { readWorkingSet } from './workingset.mongo.ts';

const IMPORTED_AT_ONCE = 500;
const MAX_ATTEMPTS = 100;

/** Opens the store in the URL's database. Throws where the server cannot be reached or the store belongs to the other environment. */
export async function openMongoMembersStore(
  url: string,
  environment: Environment,
): Promise<MembersStore> {
  const mongo = await openMongo(url, 'members', environment);
  try {
    return createMongoMembersStore(
      await openMembers(mongo.db),
      await openMongoOutbox(mongo.db),
      mongo,
    );
  } catch (error) {
    await mongo.close();
    throw error;
  }
}

function createMongoMembersStore(
  members: Collection<MemberDocument>,
  outbox: Outbox,
  mongo: Mongo,
): MembersStore {
  const identity = batchLoad((keys) => identitiesByKey(members, keys));
  const byKey = async (key: string) => {
    const [found] = await keysQuery(members, [key]).toArray();
    return found && heldOf(found).row;
  };
  const member = batchLoad(
    async (ids) =>
      new Map(
        (await idsQuery(members, ids).toArray()).map((found) => [found._id, heldOf(found).row]),
      ),
  );

  // Two writes of one key at the same time would only make one of them start over; DocumentDB even lets both wait until it cancels one.
  const inTurn = createKeyLock();

  /** Lets a rule act on the members of these ids and keys, again whenever another write came between. */
  const act = async <T>(
    ids: string[],
    keys: string[],
    rule: (rows: MemberRecords) => T,
  ): Promise<T> => {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const view = await readWorkingSet(members, ids, keys);
      const answer = rule(view);
      if ((await view.store()).size === 0) return answer;
      await setTimeout(Math.random() * attempt);
    }
    throw new Error(`a member was written by others ${MAX_ATTEMPTS} times in a row`);
  };
  const change = <T>(ids: string[], keys: string[], rule: (rows: MemberRecords) => T) =>
    inTurn([...ids, ...keys], () => act(ids, keys, rule));

  /** Acts on many records in one view and writes them together; those whom another write touched are done again, one by one. */
  const importSome = async (
    records: readonly MemberImport[],
    ids: string[],
    keys: string[],
  ): Promise<ImportResult[]> => {
    const view = await readWorkingSet(members, ids, keys);
    const acts = records.map((record) => {
      const from = view.written.length;
      const answer = importMember(view, record);
      return { record, answer, written: view.written.slice(from) };
    });
    const lost = await view.store();
    const answers: ImportResult[] = [];
    for (const { record, answer, written } of acts) {
      // An answer that wrote nothing may lean on a row that was not stored.
      const stands =
        lost.size === 0 || (written.length > 0 && !written.some((memberId) => lost.has(memberId)));
      answers.push(
        stands
          ? answer
          : await act(idsOf(record), claimsOf(record), (rows) => importMember(rows, record)),
      );
    }
    return answers;
  };

  return {
    memberByEmail: (partnerId, canonical) => identity(enrolledKey(partnerId, canonical)),
    memberByExternalId: (partnerId, externalId) => identity(externalKey(partnerId, externalId)),
    member,
    enroll(input) {
      const { partnerId, address, externalId } = input;
      const keys = [
        addressKey(address.canonical),
        ...(externalId === undefined ? [] : [externalKey(partnerId, externalId)]),
      ];
      return change([], keys, (rows) => enroll(rows, input));
    },
    endEnrollment: (partnerId, memberId) =>
      change([memberId], [], (rows) => endEnrollment(rows, partnerId, memberId)),
    async importMembers(records) {
      const answers: ImportResult[] = [];
      for (let from = 0; from < records.length; from += IMPORTED_AT_ONCE) {
        const some = records.slice(from, from + IMPORTED_AT_ONCE);
        const ids = some.flatMap(idsOf);
        const keys = some.flatMap(claimsOf);
        answers.push(...(await inTurn([...ids, ...keys], () => importSome(some, ids, keys))));
      }
      return answers;
    },
    tokens: createTokenStore({ find: byKey, change }),
    outbox,
    partners: createMongoMailPartners(mongo.db),
    signingKeys: createMongoSigningKeys(mongo.db),
    isEmpty: async () => (await members.findOne({}, { projection: { _id: 1 } })) === null,
    ready: mongo.ready,
    close: mongo.close,
  };
}

function idsOf({ memberId }: MemberImport): string[] {
  return memberId === undefined ? [] : [memberId];
}

function claimsOf({ address, previousAddresses, enrollments }: MemberImport): string[] {
  const externalKeys = enrollments.flatMap(({ partnerId, externalId }) =>
    externalId === undefined ? [] : [externalKey(partnerId, externalId)],
  );
  return [address, ...previousAddresses]
    .map(({ canonical }) => addressKey(canonical))
    .concat(externalKeys);
}
