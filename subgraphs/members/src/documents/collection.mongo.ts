// The members collection on MongoDB: its documents and index.
import { openCollection } from '@partner-loyalty/runtime/store/mongo.ts';
import type { Collection, Db } from 'mongodb';
import type { MemberRecord } from '../rules/record.ts';

/**
 * `version` counts the writes, so that a write can tell whether another came first; `batch`
 * identifies the last one. `keys` are keysOf(record).
 */
export type MemberDocument = Omit<MemberRecord, 'memberId'> & {
  _id: string;
  version: number;
  batch?: string;
  keys: string[];
};

export type MembersCollection = Collection<MemberDocument>;

/**
 * Opens the collection with its index, which serves every look-up and keeps members apart without
 * transactions: a key is in one document at most.
 */
export function openMembers(db: Db): Promise<MembersCollection> {
  return openCollection(db, 'members', undefined, [[{ keys: 1 }, { unique: true }]]);
}
