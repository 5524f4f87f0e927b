// What the gateway asks of its store of partners and keys; keystore.lmdb.ts and keystore.mongo.ts answer it.
import type { MaybePromise } from '@partner-loyalty/runtime';

export type Partner = {
  partnerId: string;
  name: string;
  /** Requests per window of each of the partner's keys; the setting where absent. */
  budget?: number;
  /** The partner's own page that a magic link opens; this service's `/sign-in` where absent. */
  magicLinkUrl?: string;
  createdAt: Date;
};

/** A stored key. The key itself is never stored, only `hash`: its SHA-256 in hexadecimal. */
export type KeyRecord = {
  keyId: string;
  partnerId: string;
  hash: string;
  createdAt: Date;
  expiresAt?: Date;
  revokedAt?: Date;
};

/** Who filled the store: demo data being written, demo data complete, or an operator's command. */
export type Origin = 'demo-begun' | 'demo' | 'operator';

export type FoundKey = { key: KeyRecord; partner: Partner };

export type KeyStore = {
  /** The key with this hash and its partner, revoked and expired ones included; undefined where there is none. One indexed read. */
  keyByHash(hash: string): MaybePromise<FoundKey | undefined>;
  /** False where the partner exists already. */
  createPartner(partner: Partner): Promise<boolean>;
  partner(partnerId: string): Promise<Partner | undefined>;
  /** Ascending by partnerId. */
  partners(): Promise<Partner[]>;
  /** Rejects where the partner does not exist, or the id or the hash is taken. */
  createKey(key: KeyRecord): Promise<void>;
  /** In the order of creation; none where the partner does not exist. */
  keys(partnerId: string): Promise<KeyRecord[]>;
  /** False where there is no such key. Revoking again changes nothing. */
  revokeKey(keyId: string, at: Date): Promise<boolean>;
  origin(): Promise<Origin | undefined>;
  setOrigin(origin: Origin): Promise<void>;
  isEmpty(): Promise<boolean>;
  /** Resolves when the engine answers; rejects otherwise. */
  ready(): Promise<void>;
  close(): Promise<void>;
};
