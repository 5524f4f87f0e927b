// Members' rights on MongoDB, without transactions.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { MongoMarks } from '@partner-loyalty/runtime/store/marks/marks.mongo.ts';
import { both, ranges, walk } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { Filter } from 'mongodb';
import type { RightsEngine } from '../rights/rights.ts';
import { withoutAddresses } from '../rights/traces.ts';
import { withoutExternalId } from '../rules/events.ts';
import type { MemberRecord } from '../rules/record.ts';
import {
  eraseDocument,
  findByIds,
  isTombstone,
  type MemberDocument,
  type MembersCollection,
  versionedRecord,
} from './documents.mongo.ts';
import type { ApplyRule } from './engine.ts';

type Parts = {
  members: MembersCollection;
  marks: MongoMarks;
  find(key: string): MaybePromise<MemberRecord | undefined>;
  apply: ApplyRule;
};

export function createMongoRightsEngine({ members, marks, find, apply }: Parts): RightsEngine {
  /** Events that are pending stay in it. False if it was written since it was read. */
  async function eraseTombstone({ _id, version, outbox }: MemberDocument): Promise<boolean> {
    if (outbox === undefined) return (await members.deleteOne({ _id, version })).deletedCount === 1;
    const update = {
      $set: { outbox: outbox.map(withoutExternalId) },
      $unset: { mergedInto: '', partnerIds: '' },
      $inc: { version: 1 },
    } as const;
    return (await members.updateOne({ _id, version }, update)).matchedCount === 1;
  }
  return {
    marks: {
      has: async (memberId) => (await marks.among([memberId])).has(memberId),
      add: (memberId) => marks.add(memberId, new Date()),
      remove: marks.remove,
    },
    find,
    async load(memberId) {
      const [document] = await findByIds(members, [memberId]).toArray();
      if (document === undefined) return undefined;
      const { mergedInto, partnerIds = [] } = document;
      if (mergedInto !== undefined)
        return { merged: { mergedInto, partnerIds }, remove: () => eraseTombstone(document) };
      if (isTombstone(document)) return undefined;
      const { record } = versionedRecord(document);
      return { record, remove: () => eraseDocument(members, document) };
    },
    async forgetAddresses({ memberId, addresses }) {
      const any = { $in: [...addresses] };
      const mentions = [
        'released',
        'changes.from.canonical',
        'changes.to',
        'takenAway.address',
        'tokens.address',
        'tokens.address.canonical',
      ].map((field) => ({ [field]: any }));
      const others: Filter<MemberDocument> = { _id: { $ne: memberId }, $or: mentions };
      const projection = { _id: 1 } as const;
      // No index serves this, so that each query is one for a part of the members.
      for await (const range of ranges(members))
        for await (const { _id } of walk(members, { filter: both(range, others), projection }))
          await apply([_id], [], (records) => {
            const record = records.byId(_id);
            if (record !== undefined) records.write(record, withoutAddresses(record, addresses));
          });
    },
  };
}
