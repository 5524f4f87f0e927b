// The domain's types: members, their addresses and enrollments, and the input and results of rules.

export type Enrollment = {
  partnerId: string;
  status: 'ACTIVE' | 'ENDED';
  /** Only an active enrollment has one; ending the enrollment frees it. */
  externalId?: string | undefined;
  /** The IDs that came with members who were merged into this one, and find it as well. */
  otherExternalIds?: string[] | undefined;
  /** When an active enrollment began, in milliseconds since 1970. */
  enrolledAt?: number | undefined;
  /**
   * When the partner could last see a change, of the enrollment or of the member's identity, in
   * milliseconds since 1970.
   */
  updatedAt: number;
  /**
   * Until the member signs in through the partner, accepts its invitation, or an operator imports
   * the enrollment. It stays so when the enrollment ends, and is so once the member has left.
   */
  unconfirmed?: true | undefined;
  /**
   * When it was confirmed, in milliseconds since 1970; absent if it was not, or confirmed from the
   * beginning.
   */
  confirmedAt?: number | undefined;
  /**
   * The client IDs of the apps that it was confirmed by; empty if not by apps only. Absent if it
   * was confirmed before this was noted.
   */
  confirmedBy?: string[] | undefined;
  /** With apps in `confirmedBy`: what the partner had before, and has again without them. */
  before?: Pick<Enrollment, 'limited' | 'withheld' | 'names'> | undefined;
  /**
   * The addresses by which the partner enrolled the member, as it wrote them: the one that began
   * the enrollment, and with `limited` those that came later. Only those that are the member's.
   */
  written?: Address[] | undefined;
  /**
   * The partner sees and uses no other addresses than the written ones: it is unconfirmed, and the
   * first one was an earlier address already.
   */
  limited?: true | undefined;
  /**
   * Earlier addresses that the partner must not use: it is unconfirmed, and they came with another
   * member who was merged into this one.
   */
  withheld?: string[] | undefined;
  /** The names that the partner sent. */
  names?: Names | undefined;
};

export type Names = { firstName?: string | undefined; lastName?: string | undefined };

/** What becomes of names: null clears one, undefined keeps it. */
export type NamesChange = { [Name in keyof Names]: string | null | undefined };

/** Who a member is. */
export type Identity = Names & {
  memberId: string;
  /** The current address as the member typed it. */
  email: string;
};

/** An identity with every field written out: an engine that builds one cannot forget a field. */
export type WholeIdentity = { [Field in keyof Required<Identity>]: Identity[Field] };

/** The names are those that were imported, or stored before enrollments had names. */
export type Member = Identity & {
  /** The current address, canonical. */
  address: string;
  /** The names that the member has set, if any; nothing else replaces them. */
  ownNames?: Names | undefined;
  enrollments: Enrollment[];
};

/** A member as a partner sees it, by the active enrollment with it. */
export type PartnerMember = Identity & {
  enrollment: Pick<Enrollment, 'externalId' | 'enrolledAt'>;
};

/** How a partner names a member: with a checked value, an address in canonical form. */
export type MemberKey = { by: 'email' | 'externalId' | 'memberId'; value: string };

/** The IDs of the member who goes and of the one who stays. */
export type MergedPair = { from: string; into: string };

/** What partners find under the ID of a member who is part of another one now. */
export type MergedMember = {
  mergedInto: string;
  /** The partners that the member was ever enrolled with: others find nobody. */
  partnerIds: string[];
};

/**
 * What became of looking a member up. `ENDED` and `ERASED` are of members once enrolled with the
 * partner, by their ID only.
 */
export type LookUp =
  | { status: 'FOUND'; member: PartnerMember }
  | { status: 'NOT_FOUND' | 'ENDED' | 'ERASED'; member?: undefined };

/** What a member sees of itself. */
export type Profile = Identity & {
  /** The partners that the member is actively enrolled with. */
  activePartnerIds: string[];
};

/**
 * An address as typed, for display, and in canonical form (runtime/src/email.ts), for everything
 * else.
 */
export type Address = { typed: string; canonical: string };

export type EnrollInput = Names & {
  partnerId: string;
  address: Address;
  externalId?: string | undefined;
};

export type EnrollResult =
  | { outcome: 'enrolled'; member: PartnerMember; created: boolean }
  | { outcome: 'external-id-conflict'; reason: ExternalIdConflict }
  | { outcome: 'email-in-use' };

/** The external ID is active for another member, or this member is active with another one. */
export type ExternalIdConflict = 'TAKEN' | 'MEMBER_HAS_ANOTHER';

export type ExternalIdResult =
  | { outcome: 'changed'; member: PartnerMember }
  | { outcome: 'not-enrolled' | 'external-id-conflict' };

/**
 * One member of an import, with checked values. The import sets names and current address, adds
 * earlier addresses, and adds or changes enrollments; it removes none.
 */
export type MemberImport = {
  /**
   * The member to change, or to create with this ID. Without an ID, the member is found by the
   * address, current or historical.
   */
  memberId?: string | undefined;
  address: Address;
  previousAddresses: Address[];
  /** An omitted name stays as it is. */
  firstName?: string | undefined;
  lastName?: string | undefined;
  enrollments: EnrollmentImport[];
};

export type EnrollmentImport = {
  partnerId: string;
  externalId?: string | undefined;
  /** An omitted status stays as it is; a new enrollment is then ACTIVE. */
  status?: Enrollment['status'] | undefined;
};

export type ImportResult =
  | 'added'
  | 'changed'
  | 'unchanged'
  | 'email-in-use'
  | 'address-locked'
  | 'external-id-conflict'
  /** The member with this ID was erased. */
  | 'erased'
  /** The member with this ID is part of another one now. */
  | 'merged';
