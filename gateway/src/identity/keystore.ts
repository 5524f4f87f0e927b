// The store of partners and keys, in tables of either engine.
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Key } from '@partner-loyalty/runtime/store/engine/keys.ts';
import { pagesOf } from '@partner-loyalty/runtime/store/engine/pages.ts';
import {
  type Range,
  type Store,
  type Table,
  type Transaction,
  table,
} from '@partner-loyalty/runtime/store/engine/store.ts';
import { storedTable, tablesIn } from '@partner-loyalty/runtime/store/tables.ts';
import type { KeyScope } from '../schema/scopes.ts';
import { openStaffTables, STAFF_TABLES, type StaffTables } from './staff.ts';

/** The endpoints, each of which accepts keys of its own. */
export const KEY_ENDPOINTS = ['graphql', 'mcp'] as const;
export type KeyEndpoint = (typeof KEY_ENDPOINTS)[number];

export type Partner = {
  partnerId: string;
  name: string;
  /** Root fields in a window for each of the partner's keys; the setting if absent. */
  budget?: number | undefined;
  /** The partner's page that a magic link opens; this service's `/sign-in` if absent. */
  magicLinkUrl?: string | undefined;
  /** If required, the partner can only invite members, not enroll them. */
  consent?: 'required' | undefined;
  /** How many invitations are mailed for the partner in 24 hours; the default if absent. */
  invitations?: number | undefined;
  /** What keys that its staff make may be used for at most; DEFAULT_SCOPES if absent. */
  scopes?: readonly KeyScope[] | undefined;
  /** The CIDR ranges of the addresses that may use such keys; every address if absent. */
  allow?: readonly string[] | undefined;
  /** Since when its keys and the tokens it holds are refused; undefined if they are not. */
  suspendedAt?: Date | undefined;
  createdAt: Date;
};

/** What can change of a partner: a property that is there is set, or removed if undefined. */
export type PartnerChange = Partial<Omit<Partner, 'partnerId' | 'createdAt'>>;

/** A stored key. The key itself is never stored: `hash` is its SHA-256 in hexadecimal. */
export type KeyRecord = {
  keyId: string;
  partnerId: string;
  hash: string;
  /** Its last characters, by which people tell it from others; older keys have none. */
  lastFour?: string | undefined;
  /** What its partner calls it. */
  name?: string | undefined;
  createdAt: Date;
  expiresAt?: Date | undefined;
  revokedAt?: Date | undefined;
  /** The only endpoint that accepts the key; `graphql` if absent. */
  endpoint?: KeyEndpoint | undefined;
  /** What the key may be used for; those of defaultScopes if absent. */
  scopes?: readonly KeyScope[] | undefined;
  /** The CIDR ranges of the addresses that may use the key; every address if absent. */
  allow?: readonly string[] | undefined;
};

/** Who filled the store: the demo, unfinished or complete, or an operator's command. */
export type Origin = 'demo-begun' | 'demo' | 'operator';

export type FoundKey = { key: KeyRecord; partner: Partner };

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

export type KeyStore = Awaited<ReturnType<typeof createKeyStore>>;

export async function createKeyStore(store: Store) {
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

  async function keysBy(index: Table, range: Omit<Range, 'limit'>): Promise<KeyRecord[]> {
    const found: KeyRecord[] = [];
    for await (const page of pagesOf(store, index, range))
      found.push(...(await keysIn(page.map(({ key }) => keyIdIn(key)))));
    return found;
  }

  return {
    /**
     * The key with this hash and its partner, even if the key is revoked or expired; undefined if
     * there is none. One read by the hash.
     */
    keyByHash: (hash: string): MaybePromise<FoundKey | undefined> =>
      mapMaybe(
        store.get(BY_HASH, [hash]),
        (row) =>
          row && { key: toRecord<KeyRecord>(row.key), partner: toRecord<Partner>(row.partner) },
      ),
    /**
     * Calls `add` with the hash of every key that was created since an earlier call, which resolved
     * with `mark`; without a mark, with all. Keys are never removed. Resolves with the next mark.
     */
    async addedHashes(mark: number | undefined, add: (hash: string) => void): Promise<number> {
      let last = mark ?? 0;
      for await (const page of pagesOf(store, BY_PLACE, { prefix: [], from: [last + 1] }))
        for (const { key, row } of page) {
          add(row.hash);
          last = Number(key[0]);
        }
      return last;
    },
    /** False if the partner exists already. */
    createPartner: (partner: Partner): Promise<boolean> =>
      store.transact((tx) => {
        if (tx.get(PARTNERS, [partner.partnerId]) !== undefined) return false;
        tx.put(PARTNERS, [partner.partnerId], toStored(partner));
        return true;
      }),
    /** Changes a partner, and nothing else of it; undefined if there is no such partner. */
    changePartner: (partnerId: string, change: PartnerChange): Promise<Partner | undefined> =>
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
    async partner(partnerId: string): Promise<Partner | undefined> {
      const partner = await store.get(PARTNERS, [partnerId]);
      return partner && toRecord<Partner>(partner);
    },
    /** Ascending by partnerId. */
    async partners(): Promise<Partner[]> {
      const found: Partner[] = [];
      for await (const page of pagesOf(store, PARTNERS))
        found.push(...page.map(({ row }) => toRecord<Partner>(row)));
      return found;
    },
    /** Rejects if the partner does not exist or if the id or the hash is taken. */
    createKey: (key: KeyRecord): Promise<void> =>
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
    key: async (keyId: string): Promise<KeyRecord | undefined> => (await keysIn([[keyId]]))[0],
    /** In the order of creation; empty if the partner does not exist. */
    keys: (partnerId: string) => keysBy(BY_PARTNER, { prefix: [partnerId] }),
    /** The keys that expire after an instant and until another, but for revoked ones. */
    expiringKeys: (after: Date, until: Date) =>
      keysBy(BY_EXPIRY, {
        prefix: [],
        from: [after.getTime() + 1],
        until: [until.getTime() + 1],
      }),
    /** Lets a key expire, unless it does so earlier. False if there is no such key. */
    expireKey: (keyId: string, at: Date): Promise<boolean> =>
      changeKey(keyId, (key) =>
        key.expiresAt === undefined || key.expiresAt > at.getTime()
          ? { ...key, expiresAt: at.getTime() }
          : key,
      ),
    /** False if there is no such key. Revoking a key again changes nothing. */
    revokeKey: (keyId: string, at: Date): Promise<boolean> =>
      changeKey(keyId, (key) =>
        key.revokedAt === undefined ? { ...key, revokedAt: at.getTime() } : key,
      ),
    staffTables: async (): Promise<StaffTables> => staffTables,
    origin: async (): Promise<Origin | undefined> => (await store.get(STATE, ABOUT))?.origin,
    setOrigin: (origin: Origin): Promise<void> =>
      store.transact((tx) => tx.put(STATE, ABOUT, { ...tx.get(STATE, ABOUT), origin })),
    isEmpty: async (): Promise<boolean> =>
      (await store.keys(PARTNERS, { prefix: [], limit: 1 })).length === 0,
    /** Resolves if the engine responds; rejects otherwise. */
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
