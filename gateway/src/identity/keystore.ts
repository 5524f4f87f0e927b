// The store of partners and keys: its interface, which storedkeys.ts implements.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { StoreState } from '@partner-loyalty/runtime/store/outage.ts';
import type { KeyScope } from '../schema/scopes.ts';
import type { StaffTables } from './staff.ts';

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

export type KeyStore = {
  /**
   * The key with this hash and its partner, even if the key is revoked or expired; undefined if
   * there is none. One read by the hash.
   */
  keyByHash(hash: string): MaybePromise<FoundKey | undefined>;
  /**
   * Calls `add` with the hash of every key that was created since an earlier call, which resolved
   * with `mark`; without a mark, with all. Keys are never removed. Resolves with the next mark.
   */
  addedHashes(mark: number | undefined, add: (hash: string) => void): Promise<number>;
  /** False if the partner exists already. */
  createPartner(partner: Partner): Promise<boolean>;
  /** Changes a partner, and nothing else of it; undefined if there is no such partner. */
  changePartner(partnerId: string, change: PartnerChange): Promise<Partner | undefined>;
  partner(partnerId: string): Promise<Partner | undefined>;
  /** Ascending by partnerId. */
  partners(): Promise<Partner[]>;
  /** Rejects if the partner does not exist or if the id or the hash is taken. */
  createKey(key: KeyRecord): Promise<void>;
  key(keyId: string): Promise<KeyRecord | undefined>;
  /** In the order of creation; empty if the partner does not exist. */
  keys(partnerId: string): Promise<KeyRecord[]>;
  /** The keys that expire after an instant and until another, but for revoked ones, in no order. */
  expiringKeys(after: Date, until: Date): Promise<KeyRecord[]>;
  /** Lets a key expire, unless it does so earlier. False if there is no such key. */
  expireKey(keyId: string, at: Date): Promise<boolean>;
  /** False if there is no such key. Revoking a key again changes nothing. */
  revokeKey(keyId: string, at: Date): Promise<boolean>;
  staffTables(): Promise<StaffTables>;
  origin(): Promise<Origin | undefined>;
  setOrigin(origin: Origin): Promise<void>;
  isEmpty(): Promise<boolean>;
  /** Resolves if the engine responds; rejects otherwise. */
  ready(): Promise<StoreState>;
  close(): Promise<void>;
};
