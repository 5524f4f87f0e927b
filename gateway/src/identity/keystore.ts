// The store of partners and keys: the interface of keystore.lmdb.ts and keystore.mongo.ts.
import type { MaybePromise } from '@partner-loyalty/runtime';
import type { KeyScope } from '../planning/scopes.ts';

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
  createdAt: Date;
};

/** A stored key. The key itself is never stored: `hash` is its SHA-256 in hexadecimal. */
export type KeyRecord = {
  keyId: string;
  partnerId: string;
  hash: string;
  createdAt: Date;
  expiresAt?: Date | undefined;
  revokedAt?: Date | undefined;
  /** What the key may be used for; DEFAULT_SCOPES if absent. */
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
   * there is none. One indexed read.
   */
  keyByHash(hash: string): MaybePromise<FoundKey | undefined>;
  /** False if the partner exists already. */
  createPartner(partner: Partner): Promise<boolean>;
  /** Replaces a partner and keeps its keys; false if there is no such partner. */
  replacePartner(partner: Partner): Promise<boolean>;
  partner(partnerId: string): Promise<Partner | undefined>;
  /** Ascending by partnerId. */
  partners(): Promise<Partner[]>;
  /** Rejects if the partner does not exist or if the id or the hash is taken. */
  createKey(key: KeyRecord): Promise<void>;
  /** In the order of creation; empty if the partner does not exist. */
  keys(partnerId: string): Promise<KeyRecord[]>;
  /** False if there is no such key. Revoking a key again changes nothing. */
  revokeKey(keyId: string, at: Date): Promise<boolean>;
  origin(): Promise<Origin | undefined>;
  setOrigin(origin: Origin): Promise<void>;
  isEmpty(): Promise<boolean>;
  /** Resolves if the engine responds; rejects otherwise. */
  ready(): Promise<void>;
  close(): Promise<void>;
};
