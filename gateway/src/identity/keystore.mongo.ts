// The store of partners and keys on MongoDB: a partner's document contains its keys.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { isDuplicate, openCollection, openMongo } from '@partner-loyalty/runtime/store/mongo.ts';
import { walk } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import { mongoTables } from '@partner-loyalty/runtime/store/table.mongo.ts';
import type { Collection, Db } from 'mongodb';
import type { KeyRecord, KeyStore, Origin, Partner } from './keystore.ts';
import { openStaffTables } from './staff.ts';

type KeyDocument = Omit<KeyRecord, 'partnerId'>;
/**
 * `keys` is absent until the first key: sparse unique indexes ignore partners without keys.
 * `keyAddedAt` is the time of the last key by the server's clock.
 */
type PartnerDocument = Omit<Partner, 'partnerId'> & {
  _id: string;
  keys?: KeyDocument[];
  keyAddedAt?: Date;
};
/** How much later than others a write may be seen, or may have come from another server's clock. */
const OVERLAP_MS = 60_000;
type OwnerDocument = { _id: string; origin?: Origin };

/**
 * Opens the store in the URL's database. Rejects if the server cannot be reached or the store
 * belongs to the other environment.
 */
export function openMongoKeyStore(url: string, environment: Environment): Promise<KeyStore> {
  return openMongo(url, 'keys', environment, async ({ db, ready, close }) => {
    const partners = await openPartners(db);
    const owners = db.collection<OwnerDocument>('owners');
    const staffTables = await openStaffTables(mongoTables(db));
    return {
      ...partnerMethods(partners),
      ...keyMethods(partners),
      staffTables: async () => staffTables,
      async origin() {
        return (await owners.findOne({ _id: 'keys' }))?.origin;
      },
      async setOrigin(origin) {
        await owners.updateOne({ _id: 'keys' }, { $set: { origin } });
      },
      ready,
      close,
    };
  });
}

/** The look-up of a key by its hash: one indexed read that returns no other key. */
export function keyByHashQuery(partners: Collection<PartnerDocument>, hash: string) {
  return partners.find(
    { 'keys.hash': hash },
    {
      projection: {
        'keys.$': 1,
        name: 1,
        budget: 1,
        magicLinkUrl: 1,
        suspendedAt: 1,
        createdAt: 1,
      },
      limit: 1,
    },
  );
}

/** Partners with a key that expires in the span: an indexed read. */
export function expiringKeysQuery(partners: Collection<PartnerDocument>, after: Date, until: Date) {
  const one = { expiresAt: { $gt: after, $lte: until }, revokedAt: { $exists: false } };
  return partners.find({ keys: { $elemMatch: one } }, { projection: { keys: 1 } });
}

function openPartners(db: Db): Promise<Collection<PartnerDocument>> {
  const unique = { unique: true, sparse: true };
  return openCollection(db, 'partners', undefined, [
    [{ 'keys.hash': 1 }, unique],
    [{ 'keys.keyId': 1 }, unique],
    [{ keyAddedAt: 1 }, { sparse: true }],
    [{ 'keys.expiresAt': 1 }, { sparse: true }],
  ]);
}

function partnerMethods(partners: Collection<PartnerDocument>) {
  return {
    async createPartner({ partnerId, ...partner }) {
      try {
        await partners.insertOne({ _id: partnerId, ...partner });
        return true;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },
    async changePartner(partnerId, change) {
      const all = Object.entries(change);
      const set = all.filter(([, value]) => value !== undefined);
      const removed = all.filter(([, value]) => value === undefined).map(([name]) => [name, '']);
      const changed = await partners.findOneAndUpdate(
        { _id: partnerId },
        {
          ...(set.length > 0 && { $set: Object.fromEntries(set) }),
          ...(removed.length > 0 && { $unset: Object.fromEntries(removed) }),
        },
        { projection: { keys: 0 }, returnDocument: 'after' },
      );
      return changed ? toPartner(changed) : undefined;
    },
    async partner(partnerId) {
      const found = await partners.findOne({ _id: partnerId }, { projection: { keys: 0 } });
      return found ? toPartner(found) : undefined;
    },
    async partners() {
      const found: Partner[] = [];
      const withoutKeys = { projection: { keys: 0 } } as const;
      for await (const document of walk(partners, withoutKeys)) found.push(toPartner(document));
      return found;
    },
    async isEmpty() {
      return (await partners.findOne({}, { projection: { _id: 1 } })) === null;
    },
  } satisfies Partial<KeyStore>;
}

function keyMethods(partners: Collection<PartnerDocument>) {
  return {
    async keyByHash(hash) {
      const found = await keyByHashQuery(partners, hash).next();
      const key = found?.keys?.[0];
      if (!found || !key) return undefined;
      return { key: { partnerId: found._id, ...key }, partner: toPartner(found) };
    },
    async addedHashes(mark, add) {
      const added = mark !== undefined && { keyAddedAt: { $gte: new Date(mark - OVERLAP_MS) } };
      const projection = { 'keys.hash': 1, keyAddedAt: 1 };
      let latest = mark ?? 0;
      for await (const { keys = [], keyAddedAt } of partners.find({ ...added }, { projection })) {
        for (const { hash } of keys) add(hash);
        latest = Math.max(latest, keyAddedAt?.getTime() ?? 0);
      }
      return latest;
    },
    async createKey({ partnerId, ...key }) {
      // A unique index does not apply within one document, so the filter checks the partner's keys.
      const filter = {
        _id: partnerId,
        'keys.keyId': { $ne: key.keyId },
        'keys.hash': { $ne: key.hash },
      };
      const { matchedCount } = await partners.updateOne(filter, {
        $push: { keys: key },
        $currentDate: { keyAddedAt: true },
      });
      if (matchedCount === 0)
        throw new Error(
          `the key cannot be added: no partner ${partnerId}, or the key exists already`,
        );
    },
    async key(keyId) {
      const found = await partners.findOne(
        { 'keys.keyId': keyId },
        { projection: { 'keys.$': 1 } },
      );
      const key = found?.keys?.[0];
      return found && key ? { partnerId: found._id, ...key } : undefined;
    },
    async keys(partnerId) {
      const found = await partners.findOne({ _id: partnerId }, { projection: { keys: 1 } });
      return (found?.keys ?? []).map((key) => ({ partnerId, ...key }));
    },
    async expiringKeys(after, until) {
      const found: KeyRecord[] = [];
      for await (const { _id, keys = [] } of expiringKeysQuery(partners, after, until))
        for (const key of keys) {
          const { expiresAt = after, revokedAt } = key;
          if (expiresAt > after && expiresAt <= until && revokedAt === undefined)
            found.push({ partnerId: _id, ...key });
        }
      return found;
    },
    async expireKey(keyId, at) {
      const filter = { 'keys.keyId': keyId };
      const { matchedCount } = await partners.updateOne(filter, {
        $min: { 'keys.$.expiresAt': at },
      });
      return matchedCount > 0;
    },
    async revokeKey(keyId, at) {
      const active = { keys: { $elemMatch: { keyId, revokedAt: { $exists: false } } } };
      const revocation = { $set: { 'keys.$.revokedAt': at } };
      const { matchedCount } = await partners.updateOne(active, revocation);
      if (matchedCount > 0) return true;
      const found = await partners.findOne({ 'keys.keyId': keyId }, { projection: { _id: 1 } });
      return found !== null;
    },
  } satisfies Partial<KeyStore>;
}

function toPartner({ _id, keys: _, keyAddedAt: __, ...partner }: PartnerDocument): Partner {
  return { partnerId: _id, ...partner };
}
