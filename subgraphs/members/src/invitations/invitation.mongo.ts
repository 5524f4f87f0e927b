// Invitations on MongoDB: a document for each.
import { openCollection } from '@partner-loyalty/runtime/store/mongo.ts';
import { pages, walk } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { Db } from 'mongodb';
import {
  type InvitationStore,
  type KeptInvitation,
  type StoredInvitation,
  toInvitation,
} from './invitation.ts';

type InvitationDocument = StoredInvitation & { _id: string };

const string = { bsonType: 'string', minLength: 1 };
const SCHEMA = {
  bsonType: 'object',
  required: ['_id', 'partnerId', 'address', 'expiresAt', 'claimedUntil'],
  properties: {
    _id: { bsonType: 'string', pattern: '^[0-9a-f]{64}$' },
    partnerId: string,
    address: {
      bsonType: 'object',
      required: ['typed', 'canonical'],
      properties: { typed: string, canonical: string },
    },
    externalId: string,
    firstName: string,
    lastName: string,
    expiresAt: { minimum: 0 },
    claimedUntil: { minimum: 0 },
  },
};

/** Creates the missing collection and index; several processes may do so at the same time. */
export async function openMongoInvitations(db: Db): Promise<InvitationStore> {
  const invitations = await openCollection<InvitationDocument>(db, 'invitations', SCHEMA, [
    [{ expiresAt: 1 }, {}],
  ]);
  return {
    async add(hash, invitation, expiresAt) {
      await invitations.insertOne({ _id: hash, ...invitation, expiresAt, claimedUntil: 0 });
    },
    async find(hash, now) {
      const found = await invitations.findOne({ _id: hash, expiresAt: { $gt: now } });
      return found === null ? undefined : toInvitation(found);
    },
    async claim(hash, now, leaseMs) {
      const claimed = await invitations.findOneAndUpdate(
        { _id: hash, expiresAt: { $gt: now }, claimedUntil: { $lte: now } },
        { $set: { claimedUntil: now + leaseMs } },
      );
      return claimed === null ? undefined : toInvitation(claimed);
    },
    async remove(hash) {
      await invitations.deleteOne({ _id: hash });
    },
    async select(isWanted) {
      const found: KeptInvitation[] = [];
      for await (const stored of walk(invitations))
        if (isWanted(stored.address.canonical))
          found.push({ ...toInvitation(stored), expiresAt: stored.expiresAt });
      return found;
    },
    async discard(isUnwanted) {
      for await (const page of pages(invitations)) {
        const unwanted = page.filter(({ address }) => isUnwanted(address.canonical));
        if (unwanted.length > 0)
          await invitations.deleteMany({ _id: { $in: unwanted.map(({ _id }) => _id) } });
      }
    },
    async clean(now) {
      await invitations.deleteMany({ expiresAt: { $lte: now } });
    },
  };
}
