// The store of partners and keys, in tables of either engine.
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import { mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Key } from '@partner-loyalty/runtime/store/engine/keys.ts';
import { pagesOf } from '@partner-loyalty/runtime/store/engine/pages.ts';
import {
  type Store,
  type Transaction,
  table,
} from '@partner-loyalty/runtime/store/engine/store.ts';
import { storedTable, tablesIn } from '@partner-loyalty/runtime/store/tables.ts';
import type { KeyRecord, KeyStore, Origin, Partner } from './keystore.ts';
import { openStaffTables, STAFF_TABLES } from './staff.ts';

/** The stored form of a record: times are milliseconds since 1970. */
type Stored<T> = {
  [Field in keyof T]: T[Field] extends Date | undefined
    ? number | Exclude<T[Field], Date>
    : T[Field];
};
export type StoredPartner = Stored<Partner>;

/** A key with its place in the order of creation, and its partner as it is stored. */
export type StoredKey = { key: Stored<KeyRecord>; place: number; partner: StoredPartner };

/** By hash: a row has all that a request needs to know, so that it takes one read. */
const BY_HASH = table<StoredKey>('keys-by-hash', { nearby: true });
const BY_PARTNER = table<object>('keys-by-partner', { group: 'partner' });
const BY_PLACE = table<{ hash: string }>('keys-by-place', { nearby: true });
/** By expiry, those that are not revoked. */
const BY_EXPIRY = table<object>('keys-by-expiry');

export const PARTNERS = table<StoredPartner>('partners');

/** By ID. */
export const KEYS = table<StoredKey>('keys', {
  indexes: [
    {
      table: BY_HASH,
      entriesOf: (row) => [{ key: [row.key.hash], row }],
      // Cast: the index has such rows only.
      rowKeyOf: ({ row }) => [(row as StoredKey).key.keyId],
    },
    {
      table: BY_PARTNER,
      entriesOf: ({ key, place }) => [{ key: [key.partnerId, place, key.keyId], row: {} }],
      rowKeyOf: ({ key }) => keyIdIn(key),
    },
    {
      table: BY_PLACE,
      entriesOf: ({ key, place }) => [{ key: [place, key.keyId], row: { hash: key.hash } }],
      rowKeyOf: ({ key }) => keyIdIn(key),
    },
    {
      table: BY_EXPIRY,
      entriesOf: ({ key: { keyId, expiresAt, revokedAt } }) =>
        expiresAt === undefined || revokedAt !== undefined
          ? []
          : [{ key: [expiresAt, keyId], row: {} }],
      rowKeyOf: ({ key }) => keyIdIn(key),
    },
  ],
});

/** Has one row. */
const STATE = table<{ origin?: Origin; keys?: number }>('keystate');
const ABOUT = ['about'];

/** What the store has to be opened with. */
export const KEY_TABLES = [PARTNERS, KEYS, STATE, ...STAFF_TABLES.map(storedTable)];

const PAGE_SIZE = 500;

export async function createKeyStore(store: Store): Promise<KeyStore> {
  const staffTables = await openStaffTables(tablesIn(store));

  /** Changes a key; false if there is none. */
  const changeKey = (keyId: string, change: (key: Stored<KeyRecord>) => Stored<KeyRecord>) =>
    store.transact((tx) => {
      const row = tx.get(KEYS, [keyId]);
      if (row === undefined) return false;
      const key = change(row.key);
      if (key !== row.key) tx.put(KEYS, [keyId], { ...row, key });
      return true;
    });

  async function keysIn(keyIds: readonly Key[]): Promise<KeyRecord[]> {
    const rows = await store.getAll(KEYS, keyIds);
    return rows.flatMap((row) => (row === undefined ? [] : toRecord<KeyRecord>(row.key)));
  }

  return {
    keyByHash: (hash) =>
      mapMaybe(
        store.get(BY_HASH, [hash]),
        (row) =>
          row && { key: toRecord<KeyRecord>(row.key), partner: toRecord<Partner>(row.partner) },
      ),
    async addedHashes(mark = 0, add) {
      let last = mark;
      for await (const page of pagesOf(store, BY_PLACE, { prefix: [], from: [mark + 1] }))
        for (const { key, row } of page) {
          add(row.hash);
          last = Number(key[0]);
        }
      return last;
    },
    createPartner: (partner) =>
      store.transact((tx) => {
        if (tx.get(PARTNERS, [partner.partnerId]) !== undefined) return false;
        tx.put(PARTNERS, [partner.partnerId], toStored(partner));
        return true;
      }),
    changePartner: (partnerId, change) =>
      store.transact((tx) => {
        const before = tx.get(PARTNERS, [partnerId]);
        if (before === undefined) return undefined;
        const changed = omitUndefined({ ...toRecord<Partner>(before), ...change });
        const partner = toStored(changed);
        tx.put(PARTNERS, [partnerId], partner);
        for (const row of tx.getAll(KEYS, keyIdsOf(tx, partnerId)))
          if (row !== undefined) tx.put(KEYS, [row.key.keyId], { ...row, partner });
        return changed;
      }),
    async partner(partnerId) {
      const partner = await store.get(PARTNERS, [partnerId]);
      return partner && toRecord<Partner>(partner);
    },
    async partners() {
      const found: Partner[] = [];
      for await (const page of pagesOf(store, PARTNERS))
        found.push(...page.map(({ row }) => toRecord<Partner>(row)));
      return found;
    },
    createKey: (key) =>
      store.transact((tx) => {
        const { keyId, partnerId, hash } = key;
        const partner = tx.get(PARTNERS, [partnerId]);
        const isTaken =
          tx.get(KEYS, [keyId]) !== undefined || tx.get(BY_HASH, [hash]) !== undefined;
        if (partner === undefined || isTaken)
          throw new Error(
            `the key cannot be added: no partner ${partnerId}, or the key exists already`,
          );
        const state = tx.get(STATE, ABOUT) ?? {};
        const place = (state.keys ?? 0) + 1;
        tx.put(STATE, ABOUT, { ...state, keys: place });
        tx.put(KEYS, [keyId], { key: toStored(key), place, partner });
      }),
    key: async (keyId) => (await keysIn([[keyId]]))[0],
    async keys(partnerId) {
      const found: KeyRecord[] = [];
      for await (const page of pagesOf(store, BY_PARTNER, { prefix: [partnerId] }))
        found.push(...(await keysIn(page.map(({ key }) => keyIdIn(key)))));
      return found;
    },
    async expiringKeys(after, until) {
      const found: KeyRecord[] = [];
      const span = { prefix: [], from: [after.getTime() + 1], until: [until.getTime() + 1] };
      for await (const page of pagesOf(store, BY_EXPIRY, span))
        found.push(...(await keysIn(page.map(({ key }) => keyIdIn(key)))));
      return found;
    },
    expireKey: (keyId, at) =>
      changeKey(keyId, (key) =>
        key.expiresAt === undefined || key.expiresAt > at.getTime()
          ? { ...key, expiresAt: at.getTime() }
          : key,
      ),
    revokeKey: (keyId, at) =>
      changeKey(keyId, (key) =>
        key.revokedAt === undefined ? { ...key, revokedAt: at.getTime() } : key,
      ),
    staffTables: async () => staffTables,
    origin: async () => (await store.get(STATE, ABOUT))?.origin,
    setOrigin: (origin) =>
      store.transact((tx) => tx.put(STATE, ABOUT, { ...tx.get(STATE, ABOUT), origin })),
    isEmpty: async () => (await store.keys(PARTNERS, { prefix: [], limit: 1 })).length === 0,
    ready: store.ready,
    close: store.close,
  };
}

/** The IDs of all keys of a partner, as keys of rows. */
function keyIdsOf(tx: Transaction, partnerId: string): Key[] {
  const found: Key[] = [];
  for (let after: Key | undefined; ; ) {
    const range = { prefix: [partnerId], ...(after && { after }), limit: PAGE_SIZE };
    const page = tx.range(BY_PARTNER, range);
    found.push(...page.map(({ key }) => keyIdIn(key)));
    if (page.length < PAGE_SIZE) return found;
    after = page.at(-1)?.key;
  }
}

/** Entries end with the ID of the key. */
function keyIdIn(entry: Key): Key {
  return entry.slice(-1);
}

const TIMES: ReadonlySet<string> = new Set(['createdAt', 'suspendedAt', 'expiresAt', 'revokedAt']);

function toStored<T extends object>(record: T): Stored<T> {
  const stored = Object.entries(record)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, value instanceof Date ? value.getTime() : value]);
  return Object.fromEntries(stored) as Stored<T>; // Cast: the same, but for the form of times.
}

function toRecord<T extends object>(stored: Stored<T>): T {
  const record = Object.entries(stored).map(([name, value]) => [
    name,
    typeof value === 'number' && TIMES.has(name) ? new Date(value) : value,
  ]);
  return Object.fromEntries(record) as T; // Cast: the same, but for the form of times.
}
