// What the members subgraph asks of its store, in domain words; store.lmdb.ts and store.mongo.ts answer it.
import type { MaybePromise } from '@partner-loyalty/runtime';
import type { Outbox } from '../outbox/outbox.ts';
import type { MailPartners } from '../outbox/partner.ts';
import type { SigningKeyStore } from '../signingkeys/signingkey.ts';
import type { TokenStore } from './tokenstore.ts';

export type Enrollment = {
  partnerId: string;
  status: 'ACTIVE' | 'ENDED';
  /** Of an active enrollment only: ending frees it. */
  externalId?: string;
};

/** Who a member is, as the partners see it. */
export type Identity = {
  memberId: string;
  /** The current address as the member wrote it. */
  email: string;
  firstName?: string;
  lastName?: string;
};

/** What a member sees of itself; the partners are those of active enrollments. */
export type Profile = Identity & { activePartnerIds: string[] };

export type Member = Identity & { enrollments: Enrollment[] };

/** An address as typed, for display, and in canonical form (email.ts), for everything else. */
export type Address = { typed: string; canonical: string };

export type EnrollInput = {
  partnerId: string;
  address: Address;
  externalId?: string;
  firstName?: string;
  lastName?: string;
};

export type EnrollResult =
  | { outcome: 'enrolled'; member: Member; created: boolean }
  | { outcome: 'external-id-conflict' };

/** A line of an import, checked and canonical. Names and current address are set, earlier addresses and enrollments are added or changed, none removed. */
export type MemberImport = {
  /** Found by it, or created with it; without one the member is found by the address, current or historical. */
  memberId?: string;
  address: Address;
  previousAddresses: Address[];
  /** A name left out stays as it is. */
  firstName?: string;
  lastName?: string;
  /** A status left out stays as it is; a new enrollment is then ACTIVE. */
  enrollments: { partnerId: string; externalId?: string; status?: 'ACTIVE' | 'ENDED' }[];
};

export type ImportResult =
  | 'added'
  | 'changed'
  | 'unchanged'
  | 'email-in-use'
  | 'external-id-conflict';

export type MembersStore = {
  /** By a current or historical address, where actively enrolled with the partner. One indexed read, the same for unknown and not enrolled. */
  memberByEmail(partnerId: string, canonical: string): MaybePromise<Identity | undefined>;
  /** By the external ID of an active enrollment with the partner. One indexed read. */
  memberByExternalId(partnerId: string, externalId: string): MaybePromise<Identity | undefined>;
  member(memberId: string): MaybePromise<Member | undefined>;
  /** Enrolls by the rules of contract section 4; safe against concurrent enrollments of the address, the member and the external ID. */
  enroll(input: EnrollInput): Promise<EnrollResult>;
  /** False where the member is not actively enrolled with the partner. */
  endEnrollment(partnerId: string, memberId: string): Promise<boolean>;
  /** Imports a batch as if record by record; the answers are in the order of the records. A repeated or concurrent import changes nothing twice. */
  importMembers(records: readonly MemberImport[]): Promise<ImportResult[]>;
  /** Tokens mailed to members. */
  tokens: TokenStore;
  /** Mail that has been promised. */
  outbox: Outbox;
  /** What mail needs to know about partners. */
  partners: MailPartners;
  /** The keys of the built-in identity provider. */
  signingKeys: SigningKeyStore;
  /** Whether there is no member. */
  isEmpty(): Promise<boolean>;
  /** Resolves when the engine answers; rejects otherwise. */
  ready(): Promise<void>;
  close(): Promise<void>;
};
