// The store of partners and keys on MongoDB: a document per partner that holds its keys, so that a key and its partner are one read.
import { type Environment, isDuplicate, openCollection, openMongo } from '@partner-loyalty/runtime';
import type { Collection, Db } from 'mongodb';
import type { FoundKey, KeyRecord, KeyStore, Origin, Partner } from './keystore.ts';

type KeyDocument = Omit<KeyRecord, 'partnerId'>;
/** `keys` is missing until the first key, so that the sparse unique indexes pass over partners without one. */
type PartnerDocument = Omit<Partner, 'partnerId'> & { _id: string; keys?: KeyDocument[] };
type OwnerDocument = { _id: string; origin?: Origin };

const SCHEMA = {
  bsonType: 'object',
  required: ['_id', 'name', 'createdAt'],
  properties: {
    _id: { bsonType: 'string', minLength: 1 },
    name: { bsonType: 'string', minLength: 1 },
    budget: { bsonType: 'int', minimum: 0 },
    magicLinkUrl: { bsonType: 'string' },
    createdAt: { bsonType: 'date' },
    keys: {
      bsonType: 'array',
      items: {
        bsonType: 'object',
        required: ['keyId', 'hash', 'createdAt'],
        properties: {
          keyId: { bsonType: 'string', minLength: 1 },
          hash: { bsonType: 'string', pattern: '^[0-9a-f]{64}$' },
          createdAt: { bsonType: 'date' },
          expiresAt: { bsonType: 'date' },
          revokedAt: { bsonType: 'date' },
        },
      },
    },
  },
};

/** Opens the store in the URL's database. Throws where the server cannot be reached or the store belongs to the other environment. */
export async function openMongoKeyStore(url: string, environment: Environment): Promise<KeyStore> {
  const mongo = await openMongo(url, 'keys', environment);
  try {
    return createMongoKeyStore(await openPartners(mongo.db), mongo.db.collection('owners'), mongo);
  } catch (error) {
    await mongo.close();
    throw error;
  }
}

/** The look-up of a key by its hash, as the driver sends it. */
export function keyByHashQuery(partners: Collection<PartnerDocument>, hash: string) {
  return partners.find(
    { 'keys.hash': hash },
    { projection: { 'keys.$': 1, name: 1, budget: 1, magicLinkUrl: 1, createdAt: 1 }, limit: 1 },
  );
}

function createMongoKeyStore(
  partners: Collection<PartnerDocument>,
  owners: Collection<OwnerDocument>,
  mongo: { ready(): Promise<void>; close(): Promise<void> },
): KeyStore {
  return {
    async keyByHash(hash): Promise<FoundKey | undefined> {
      const found = await keyByHashQuery(partners, hash).next();
      const key = found?.keys?.[0];
      return found && key ? { key: toKey(found._id, key), partner: toPartner(found) } : undefined;
    },
    async createPartner({ partnerId, name, budget, magicLinkUrl, createdAt }) {
      try {
        await partners.insertOne({ _id: partnerId, name, budget, magicLinkUrl, createdAt });
        return true;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },
    async partner(partnerId) {
      const found = await partners.findOne({ _id: partnerId }, { projection: { keys: 0 } });
      return found ? toPartner(found) : undefined;
    },
    async partners() {
      return (await partners.find({}, { projection: { keys: 0 }, sort: { _id: 1 } }).toArray()).map(
        toPartner,
      );
    },
    async createKey({ partnerId, ...key }) {
      // A unique index holds between documents only; within the partner's own, the filter holds it.
      const free = {
        _id: partnerId,
        'keys.keyId': { $ne: key.keyId },
        'keys.hash': { $ne: key.hash },
      };
      const { matchedCount } = await partners.updateOne(free, { $push: { keys: key } });
      if (matchedCount === 0)
        throw new Error(
          `the key cannot be added: no partner ${partnerId}, or the key is there already`,
        );
    },
    async keys(partnerId) {
      const found = await partners.findOne({ _id: partnerId }, { projection: { keys: 1 } });
      return (found?.keys ?? []).map((key) => toKey(partnerId, key));
    },
    async revokeKey(keyId, at) {
      const valid = { keys: { $elemMatch: { keyId, revokedAt: { $exists: false } } } };
      const { matchedCount } = await partners.updateOne(valid, {
        $set: { 'keys.$.revokedAt': at },
      });
      return (
        matchedCount > 0 ||
        (await partners.findOne({ 'keys.keyId': keyId }, { projection: { _id: 1 } })) !== null
      );
    },
    async origin() {
      return (await owners.findOne({ _id: 'keys' }))?.origin;
    },
    async setOrigin(origin) {
      await owners.updateOne({ _id: 'keys' }, { $set: { origin } });
    },
    async isEmpty() {
      return (await partners.findOne({}, { projection: { _id: 1 } })) === null;
    },
    ready: mongo.ready,
    close: mongo.close,
  };
}

/** The collection with its validator, and the indexes that find a key and keep keys apart. */
function openPartners(db: Db): Promise<Collection<PartnerDocument>> {
  const keysApart = { unique: true, sparse: true };
  return openCollection(db, 'partners', SCHEMA, [
    [{ 'keys.hash': 1 }, keysApart],
    [{ 'keys.keyId': 1 }, keysApart],
  ]);
}

function toPartner({ _id, name, budget, magicLinkUrl, createdAt }: PartnerDocument): Partner {
  return { partnerId: _id, name, budget, magicLinkUrl, createdAt };
}

function toKey(
  partnerId: string,
  { keyId, hash, createdAt, expiresAt, revokedAt }: KeyDocument,
): KeyRecord {
  return { keyId, partnerId, hash, createdAt, expiresAt, revokedAt };
}
