// The partner surface, generated from its schema by `npm run generate`.
import type { Operation } from '../surface/operation.ts';
import type { Schema } from '../surface/schema.ts';
export type Maybe<T> = T | null;
export type InputMaybe<T> = T | null | undefined;
export type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type MakeOptional<T, K extends keyof T> = Omit<T, K> & { [SubKey in K]?: Maybe<T[SubKey]> };
export type MakeMaybe<T, K extends keyof T> = Omit<T, K> & { [SubKey in K]: Maybe<T[SubKey]> };
export type MakeEmpty<T extends { [key: string]: unknown }, K extends keyof T> = { [_ in K]?: never };
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** An instant in UTC, in the format of RFC 3339: 2026-03-01T12:00:00.000Z */
  DateTime: { input: string; output: string; }
};

/** Points and stays that a member earned or gave back. */
export type Activity = {
  readonly activityId: Scalars['ID']['output'];
  readonly partnerId: Scalars['ID']['output'];
  readonly points: Scalars['Int']['output'];
  readonly stays: Scalars['Int']['output'];
  readonly occurredAt: Scalars['DateTime']['output'];
  /** The first day of the membership year that it is in, in the program's time zone: 2026-03-01 */
  readonly membershipYear: Scalars['String']['output'];
};

/** A page of activities, as in the GraphQL Cursor Connections Specification. */
export type ActivityConnection = {
  readonly edges: ReadonlyArray<ActivityEdge>;
  readonly pageInfo: PageInfo;
};

export type ActivityEdge = {
  readonly node: Activity;
  /** Valid only for the same caller and the same member. */
  readonly cursor: Scalars['String']['output'];
};

/** Points and stays that a member earned, or gave back if they are negative. */
export type ActivityInput = {
  /** The calling partner's own ID for the activity, at most 128 characters. */
  readonly activityId: Scalars['ID']['input'];
  readonly memberId: Scalars['ID']['input'];
  /** From -1,000,000,000 to 1,000,000,000. */
  readonly points: Scalars['Int']['input'];
  /** From -1,000,000,000 to 1,000,000,000. */
  readonly stays?: InputMaybe<Scalars['Int']['input']>;
  /** From 1900 to a day in the future. */
  readonly occurredAt: Scalars['DateTime']['input'];
};

export type ActivityOutcome =
  /** It counts from now on. */
  | 'RECORDED'
  /** It was recorded before, with the same content. Nothing changed. */
  | 'ALREADY_RECORDED'
  /** The calling partner has recorded another activity with this ID. Nothing changed. */
  | 'CONFLICT'
  /** Points, stays or time are out of range, or a sum of the year would be. Nothing changed. */
  | 'OUT_OF_RANGE'
  /** No such member was ever enrolled with the calling partner. Nothing changed. */
  | 'NOT_ENROLLED'
  /** An ID is empty, too long or has control characters, or `occurredAt` is no time. Nothing changed. */
  | 'INVALID';

export type EndEnrollmentPayload = {
  readonly memberId: Scalars['ID']['output'];
};

export type EnrollMemberInput = {
  /** At most 254 characters. */
  readonly email: Scalars['String']['input'];
  /** The partner's own ID for the member, at most 255 characters. */
  readonly externalId?: InputMaybe<Scalars['String']['input']>;
  /**
   * At most 100 characters. Ignored if the calling partner already sees a first name. No other partner
   * sees it.
   */
  readonly firstName?: InputMaybe<Scalars['String']['input']>;
  /** At most 100 characters. Ignored if the calling partner already sees a last name. */
  readonly lastName?: InputMaybe<Scalars['String']['input']>;
};

export type EnrollMemberPayload = {
  readonly member: PartnerMemberRead;
  /** Whether this call started the member's enrollment with the calling partner. */
  readonly created: Scalars['Boolean']['output'];
};

export type EnrollmentStatus =
  | 'ACTIVE'
  | 'ENDED';

/** A change that the partner can see. It contains no name and no address. */
export type Event = {
  /** It never changes: use it to recognize an event that you receive twice. */
  readonly id: Scalars['ID']['output'];
  /** Null if the event concerns no single member. */
  readonly memberId: Maybe<Scalars['ID']['output']>;
  /** The member as it is now; null if no longer enrolled, or if the event concerns no single member. */
  readonly member: Maybe<PartnerMemberRead>;
  readonly type: EventType;
  /** When the change was made or recorded. */
  readonly occurredAt: Scalars['DateTime']['output'];
  /** The partner's own ID for the member, as it was after the change. */
  readonly externalId: Maybe<Scalars['String']['output']>;
  /** The ID of the member whom a merge has made part of this one. */
  readonly mergedMemberId: Maybe<Scalars['ID']['output']>;
  readonly tierBefore: Maybe<Scalars['String']['output']>;
  readonly tierAfter: Maybe<Scalars['String']['output']>;
  /** The points of the activity, not the balance. */
  readonly points: Maybe<Scalars['Int']['output']>;
  readonly activityId: Maybe<Scalars['ID']['output']>;
};

/** A page of events, as in the GraphQL Cursor Connections Specification. */
export type EventConnection = {
  readonly edges: ReadonlyArray<EventEdge>;
  readonly pageInfo: PageInfo;
};

export type EventEdge = {
  readonly node: Event;
  /** Valid until the event after it is deleted. */
  readonly cursor: Scalars['String']['output'];
};

export type EventType =
  /** The enrollment began, or began again after it had ended. */
  | 'MEMBER_ENROLLED'
  | 'ENROLLMENT_ENDED'
  /** The member's address, names or anything else that the partner can see has changed. */
  | 'MEMBER_UPDATED'
  /** `externalId` is the new one, or null if it was removed. */
  | 'EXTERNAL_ID_CHANGED'
  /** The member is gone. Earlier events keep no external ID and no activity ID. */
  | 'MEMBER_ERASED'
  /** `mergedMemberId` is now `memberId`. */
  | 'MEMBER_MERGED'
  /** An activity was recorded, of this or an earlier membership year. */
  | 'POINTS_CHANGED'
  /** The activity of the preceding event changed the tier. */
  | 'TIER_CHANGED'
  /** A membership year of the program has ended: points start again at 0, and tiers may have ended. */
  | 'YEAR_ENDED'
  /** The operator has changed the program: any member's tier may have changed. */
  | 'PROGRAM_CHANGED';

export type InviteMemberPayload = {
  /** Always true. */
  readonly accepted: Scalars['Boolean']['output'];
};

/** The result of looking up one key. */
export type LookupStatus =
  /** The member is actively enrolled with the calling partner. */
  | 'FOUND'
  /** No member whom the calling partner knows has the key. */
  | 'NOT_FOUND'
  /** Only by `memberId`: the enrollment with the calling partner has ended. */
  | 'ENDED'
  /** Only by `memberId`: the member was once enrolled with the calling partner, and was erased. */
  | 'ERASED'
  /**
   * The key does not have exactly one field, or its value is empty, too long or has control
   * characters.
   */
  | 'INVALID';

export type MagicLinkSession = {
  readonly memberId: Scalars['ID']['output'];
  /**
   * An ID token, to be sent as a bearer token. It shows the member's standing with the calling partner
   * only.
   */
  readonly idToken: Scalars['String']['output'];
  /** When the ID token expires, as an ISO 8601 instant. */
  readonly expiresAt: Scalars['String']['output'];
};

/** A page of members, as in the GraphQL Cursor Connections Specification. */
export type MemberConnection = {
  readonly edges: ReadonlyArray<MemberEdge>;
  readonly pageInfo: PageInfo;
};

export type MemberEdge = {
  readonly memberId: Scalars['ID']['output'];
  /** Null if the enrollment has ended. */
  readonly node: Maybe<PartnerMemberRead>;
  /** It never expires. */
  readonly cursor: Scalars['String']['output'];
  /** The last change to the member's identity or enrollment that the calling partner could see. */
  readonly updatedAt: Scalars['DateTime']['output'];
  readonly status: EnrollmentStatus;
};

/** Identifies a member by exactly one of these. */
export type MemberKey = {
  /** An address, current or historical. */
  readonly email?: InputMaybe<Scalars['String']['input']>;
  /** The calling partner's own ID for the member. */
  readonly externalId?: InputMaybe<Scalars['String']['input']>;
  readonly memberId?: InputMaybe<Scalars['ID']['input']>;
};

export type MemberLookup = {
  /** Null unless the status is FOUND. */
  readonly member: Maybe<PartnerMemberRead>;
  readonly status: LookupStatus;
};

export type Mutation = {
  /** Enrolls a member with the calling partner. Repeated with the same input, it changes nothing. */
  readonly enrollMember: Maybe<EnrollMemberPayload>;
  /**
   * Invites the person with this address to enroll with the calling partner: mails a link to a page
   * that names the partner. The enrollment exists once the person agrees there. The response does not
   * reveal whether the address is a member's.
   */
  readonly inviteMember: Maybe<InviteMemberPayload>;
  /**
   * Ends the member's enrollment with the calling partner and frees its external ID. Repeated, it
   * changes nothing.
   */
  readonly endEnrollment: Maybe<EndEnrollmentPayload>;
  /**
   * Sets the external ID of the member's active enrollment with the calling partner. Null removes
   * it; leaving it out is an error.
   */
  readonly changeExternalId: Maybe<PartnerMemberRead>;
  /**
   * Corrects the names of an enrolled member for the calling partner. Null clears a name; a name that
   * is left out stays as it is. No other partner sees them.
   */
  readonly updateMember: Maybe<PartnerMemberRead>;
  /**
   * Mails a sign-in link to the member with this address, if actively enrolled with the calling
   * partner. The response does not reveal whether there is such a member.
   */
  readonly requestMagicLink: Maybe<RequestMagicLinkPayload>;
  /**
   * Exchanges the token of a link that the calling partner requested for an ID token of the member.
   * A token works once.
   */
  readonly exchangeMagicLink: Maybe<MagicLinkSession>;
  /**
   * Records 1 to 100 activities of the calling partner; 10 of them cost 1. The outcomes are in the
   * order of the activities. An activity that is recorded already is not recorded again, so the call
   * can be repeated. Needs a key with the scope `ingest`, which keys lack by default.
   */
  readonly recordActivities: Maybe<ReadonlyArray<RecordedActivity>>;
};


export type MutationEnrollMemberArgs = {
  input: EnrollMemberInput;
};


export type MutationInviteMemberArgs = {
  input: EnrollMemberInput;
};


export type MutationEndEnrollmentArgs = {
  memberId: Scalars['ID']['input'];
};


export type MutationChangeExternalIdArgs = {
  memberId: Scalars['ID']['input'];
  externalId?: InputMaybe<Scalars['String']['input']>;
};


export type MutationUpdateMemberArgs = {
  memberId: Scalars['ID']['input'];
  input: UpdateMemberInput;
};


export type MutationRequestMagicLinkArgs = {
  email: Scalars['String']['input'];
};


export type MutationExchangeMagicLinkArgs = {
  token: Scalars['String']['input'];
};


export type MutationRecordActivitiesArgs = {
  activities: ReadonlyArray<ActivityInput>;
};

/** An object that caches can identify by its ID. */
export type Node = {
  readonly id: Scalars['ID']['output'];
};

export type PageInfo = {
  /** Whether there are more entries after this page. */
  readonly hasNextPage: Scalars['Boolean']['output'];
  /** Whether this is not the first page. */
  readonly hasPreviousPage: Scalars['Boolean']['output'];
  readonly startCursor: Maybe<Scalars['String']['output']>;
  /** Pass it as `after` to get the next page. */
  readonly endCursor: Maybe<Scalars['String']['output']>;
};

/** A member as the calling partner sees it. */
export type PartnerMemberRead = Node & {
  /** The same as `memberId`. */
  readonly id: Scalars['ID']['output'];
  /** The member's stable ID, safe to store as a foreign key. */
  readonly memberId: Scalars['ID']['output'];
  /**
   * The member's current address, as the partner wrote it when enrolling, or else as the member typed
   * it. A partner that enrolled a historical address sees that one until the member confirms it.
   */
  readonly email: Scalars['String']['output'];
  /**
   * The names that the member has set, or else those that the partner sent. Until the member confirms
   * the partner, only those that the partner sent.
   */
  readonly firstName: Maybe<Scalars['String']['output']>;
  readonly lastName: Maybe<Scalars['String']['output']>;
  /** The calling partner's own ID for the member. */
  readonly externalId: Maybe<Scalars['String']['output']>;
  /** When the enrollment with the calling partner began. */
  readonly enrolledAt: Maybe<Scalars['DateTime']['output']>;
  /** The tier held with the calling partner. */
  readonly tier: Scalars['String']['output'];
  /** The points with the calling partner in the current membership year; 0 without activity. */
  readonly points: Scalars['Int']['output'];
  /** The standing with the calling partner; null with SERVICE_UNAVAILABLE if it cannot be read. */
  readonly standing: Maybe<Standing>;
  /**
   * The activities with the calling partner, of this and earlier years, newest first. `first` is from
   * 1 to 100.
   */
  readonly activities: ActivityConnection;
};


/** A member as the calling partner sees it. */
export type PartnerMemberReadActivitiesArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
};

/** How a partner's membership year and tiers work. */
export type Program = {
  /** The first day of the membership year, as MM-DD. */
  readonly membershipYearStart: Scalars['String']['output'];
  /** The IANA time zone in which that day begins. */
  readonly timeZone: Scalars['String']['output'];
  readonly tierValidity: TierValidity;
  /** From the lowest to the highest. */
  readonly tiers: ReadonlyArray<Tier>;
};

export type Query = {
  /** What the key of this request is, and what it may do. It needs no scope. */
  readonly viewer: Maybe<Viewer>;
  /**
   * The member with this address, current or historical, if actively enrolled with the calling
   * partner.
   */
  readonly memberByEmail: Maybe<PartnerMemberRead>;
  /** The member whose active enrollment with the calling partner has this external ID. */
  readonly memberByExternalId: Maybe<PartnerMemberRead>;
  /** The member with this ID, if actively enrolled with the calling partner. A member ID never changes. */
  readonly memberById: Maybe<PartnerMemberRead>;
  /**
   * Looks up 1 to 100 members at once, in the order of the keys; 10 keys cost 1. A key that finds no
   * member, or that is not valid, is not an error.
   */
  readonly memberLookups: Maybe<ReadonlyArray<MemberLookup>>;
  /**
   * The members enrolled with the calling partner, in the order of the last change that the partner
   * could see, in pages.
   */
  readonly members: Maybe<MemberConnection>;
  /** The object with this ID: a member enrolled with the calling partner, or null without an error. */
  readonly node: Maybe<Node>;
  /**
   * The emails that calls of this partner have sent to an address at `inbox.test` in the last 24
   * hours, newest first, at most 100. Only a sandbox has them; empty for any other address.
   */
  readonly sandboxMails: Maybe<ReadonlyArray<SandboxMail>>;
  /** The calling partner's membership year and tiers. */
  readonly program: Maybe<Program>;
  /**
   * What changed for the calling partner, oldest first. `first` is from 1 to 500. Pass `endCursor` as
   * `after` to get each event exactly once. With `types`, a page looks at up to 10 times `first`
   * events, so it can have fewer than `first` even if there are more.
   */
  readonly events: Maybe<EventConnection>;
};


export type QueryMemberByEmailArgs = {
  email: Scalars['String']['input'];
};


export type QueryMemberByExternalIdArgs = {
  externalId: Scalars['String']['input'];
};


export type QueryMemberByIdArgs = {
  memberId: Scalars['ID']['input'];
};


export type QueryMemberLookupsArgs = {
  keys: ReadonlyArray<MemberKey>;
};


export type QueryMembersArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
  updatedSince?: InputMaybe<Scalars['DateTime']['input']>;
  status?: InputMaybe<EnrollmentStatus>;
};


export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};


export type QuerySandboxMailsArgs = {
  email: Scalars['String']['input'];
};


export type QueryEventsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
  types?: InputMaybe<ReadonlyArray<EventType>>;
};

/** The outcome for one activity. */
export type RecordedActivity = {
  readonly activityId: Scalars['ID']['output'];
  readonly outcome: ActivityOutcome;
  /** If it is `INVALID`, the argument at fault, such as activities.3.occurredAt; otherwise null. */
  readonly argument: Maybe<Scalars['String']['output']>;
};

export type RequestMagicLinkPayload = {
  /** Always true. */
  readonly accepted: Scalars['Boolean']['output'];
};

export type SandboxMail = {
  readonly id: Scalars['ID']['output'];
  readonly to: Scalars['String']['output'];
  readonly subject: Scalars['String']['output'];
  readonly text: Scalars['String']['output'];
  readonly html: Maybe<Scalars['String']['output']>;
  readonly sentAt: Scalars['DateTime']['output'];
};

/** A standing with one partner in the current membership year. */
export type Standing = {
  readonly partnerId: Scalars['ID']['output'];
  /** The partner's name. */
  readonly partnerName: Scalars['String']['output'];
  /** The tier held. */
  readonly tier: Scalars['String']['output'];
  /** When the membership year began whose points earned the tier. */
  readonly tierFrom: Scalars['DateTime']['output'];
  /** When the tier ends, unless it is earned again. */
  readonly tierValidUntil: Scalars['DateTime']['output'];
  readonly points: Scalars['Int']['output'];
  readonly stays: Scalars['Int']['output'];
  /** The tier above the one held; null at the top. */
  readonly nextTier: Maybe<Scalars['String']['output']>;
  /** How many more points this year it takes to reach it; null at the top. */
  readonly pointsToNextTier: Maybe<Scalars['Int']['output']>;
  /** When this membership year began. */
  readonly yearStart: Scalars['DateTime']['output'];
  /** When the next membership year begins. */
  readonly yearEnd: Scalars['DateTime']['output'];
  /** The membership year before this one; null without activity in it. */
  readonly previousYear: Maybe<YearStanding>;
  /** When the standing was read. */
  readonly asOf: Scalars['DateTime']['output'];
};

export type Tier = {
  readonly name: Scalars['String']['output'];
  /** The points needed to reach it. */
  readonly points: Scalars['Int']['output'];
};

/** How long a member keeps a tier after reaching it. */
export type TierValidity =
  /** To the end of the membership year in which it was earned. */
  | 'YEAR'
  /** To the end of the membership year after that. */
  | 'NEXT_YEAR';

/** The names of a member for the calling partner. */
export type UpdateMemberInput = {
  /** At most 100 characters. */
  readonly firstName?: InputMaybe<Scalars['String']['input']>;
  /** At most 100 characters. */
  readonly lastName?: InputMaybe<Scalars['String']['input']>;
};

/** A partner key. */
export type Viewer = {
  readonly partnerId: Scalars['ID']['output'];
  readonly partnerName: Scalars['String']['output'];
  /** The ID of the key in lists of keys, not the key itself. */
  readonly keyId: Scalars['ID']['output'];
  readonly scopes: ReadonlyArray<Scalars['String']['output']>;
  /** Null if it never expires. */
  readonly expiresAt: Maybe<Scalars['DateTime']['output']>;
  /** How many root fields a window allows. */
  readonly budget: Scalars['Int']['output'];
  readonly windowSeconds: Scalars['Int']['output'];
  /** `sandbox` or `production`. */
  readonly environment: Scalars['String']['output'];
};

/** What a member reached in one membership year. */
export type YearStanding = {
  /** The tier that the points of this year alone reached. */
  readonly tier: Scalars['String']['output'];
  readonly points: Scalars['Int']['output'];
  readonly stays: Scalars['Int']['output'];
  readonly yearStart: Scalars['DateTime']['output'];
  /** When the next membership year began. */
  readonly yearEnd: Scalars['DateTime']['output'];
};

export type ActivitySelection = {
  readonly activityId?: true;
  readonly partnerId?: true;
  readonly points?: true;
  readonly stays?: true;
  readonly occurredAt?: true;
  /** The first day of the membership year that it is in, in the program's time zone: 2026-03-01 */
  readonly membershipYear?: true;
};

export type ActivityConnectionSelection = {
  readonly edges?: ActivityEdgeSelection;
  readonly pageInfo?: PageInfoSelection;
};

export type ActivityEdgeSelection = {
  readonly node?: ActivitySelection;
  /** Valid only for the same caller and the same member. */
  readonly cursor?: true;
};

export type EndEnrollmentPayloadSelection = {
  readonly memberId?: true;
};

export type EnrollMemberPayloadSelection = {
  readonly member?: PartnerMemberReadSelection;
  /** Whether this call started the member's enrollment with the calling partner. */
  readonly created?: true;
};

export type EventSelection = {
  /** It never changes: use it to recognize an event that you receive twice. */
  readonly id?: true;
  /** Null if the event concerns no single member. */
  readonly memberId?: true;
  /** The member as it is now; null if no longer enrolled, or if the event concerns no single member. */
  readonly member?: PartnerMemberReadSelection;
  readonly type?: true;
  /** When the change was made or recorded. */
  readonly occurredAt?: true;
  /** The partner's own ID for the member, as it was after the change. */
  readonly externalId?: true;
  /** The ID of the member whom a merge has made part of this one. */
  readonly mergedMemberId?: true;
  readonly tierBefore?: true;
  readonly tierAfter?: true;
  /** The points of the activity, not the balance. */
  readonly points?: true;
  readonly activityId?: true;
};

export type EventConnectionSelection = {
  readonly edges?: EventEdgeSelection;
  readonly pageInfo?: PageInfoSelection;
};

export type EventEdgeSelection = {
  readonly node?: EventSelection;
  /** Valid until the event after it is deleted. */
  readonly cursor?: true;
};

export type InviteMemberPayloadSelection = {
  /** Always true. */
  readonly accepted?: true;
};

export type MagicLinkSessionSelection = {
  readonly memberId?: true;
  /**
   * An ID token, to be sent as a bearer token. It shows the member's standing with the calling partner
   * only.
   */
  readonly idToken?: true;
  /** When the ID token expires, as an ISO 8601 instant. */
  readonly expiresAt?: true;
};

export type MemberConnectionSelection = {
  readonly edges?: MemberEdgeSelection;
  readonly pageInfo?: PageInfoSelection;
};

export type MemberEdgeSelection = {
  readonly memberId?: true;
  /** Null if the enrollment has ended. */
  readonly node?: PartnerMemberReadSelection;
  /** It never expires. */
  readonly cursor?: true;
  /** The last change to the member's identity or enrollment that the calling partner could see. */
  readonly updatedAt?: true;
  readonly status?: true;
};

export type MemberLookupSelection = {
  /** Null unless the status is FOUND. */
  readonly member?: PartnerMemberReadSelection;
  readonly status?: true;
};

export type PageInfoSelection = {
  /** Whether there are more entries after this page. */
  readonly hasNextPage?: true;
  /** Whether this is not the first page. */
  readonly hasPreviousPage?: true;
  readonly startCursor?: true;
  /** Pass it as `after` to get the next page. */
  readonly endCursor?: true;
};

export type PartnerMemberReadSelection = {
  /** The same as `memberId`. */
  readonly id?: true;
  /** The member's stable ID, safe to store as a foreign key. */
  readonly memberId?: true;
  /**
   * The member's current address, as the partner wrote it when enrolling, or else as the member typed
   * it. A partner that enrolled a historical address sees that one until the member confirms it.
   */
  readonly email?: true;
  /**
   * The names that the member has set, or else those that the partner sent. Until the member confirms
   * the partner, only those that the partner sent.
   */
  readonly firstName?: true;
  readonly lastName?: true;
  /** The calling partner's own ID for the member. */
  readonly externalId?: true;
  /** When the enrollment with the calling partner began. */
  readonly enrolledAt?: true;
  /** The tier held with the calling partner. */
  readonly tier?: true;
  /** The points with the calling partner in the current membership year; 0 without activity. */
  readonly points?: true;
  /** The standing with the calling partner; null with SERVICE_UNAVAILABLE if it cannot be read. */
  readonly standing?: StandingSelection;
  /**
   * The activities with the calling partner, of this and earlier years, newest first. `first` is from
   * 1 to 100.
   */
  readonly activities?: ActivityConnectionSelection & { readonly $arguments?: PartnerMemberReadActivitiesArgs };
};

export type ProgramSelection = {
  /** The first day of the membership year, as MM-DD. */
  readonly membershipYearStart?: true;
  /** The IANA time zone in which that day begins. */
  readonly timeZone?: true;
  readonly tierValidity?: true;
  /** From the lowest to the highest. */
  readonly tiers?: TierSelection;
};

export type RecordedActivitySelection = {
  readonly activityId?: true;
  readonly outcome?: true;
  /** If it is `INVALID`, the argument at fault, such as activities.3.occurredAt; otherwise null. */
  readonly argument?: true;
};

export type RequestMagicLinkPayloadSelection = {
  /** Always true. */
  readonly accepted?: true;
};

export type SandboxMailSelection = {
  readonly id?: true;
  readonly to?: true;
  readonly subject?: true;
  readonly text?: true;
  readonly html?: true;
  readonly sentAt?: true;
};

export type StandingSelection = {
  readonly partnerId?: true;
  /** The partner's name. */
  readonly partnerName?: true;
  /** The tier held. */
  readonly tier?: true;
  /** When the membership year began whose points earned the tier. */
  readonly tierFrom?: true;
  /** When the tier ends, unless it is earned again. */
  readonly tierValidUntil?: true;
  readonly points?: true;
  readonly stays?: true;
  /** The tier above the one held; null at the top. */
  readonly nextTier?: true;
  /** How many more points this year it takes to reach it; null at the top. */
  readonly pointsToNextTier?: true;
  /** When this membership year began. */
  readonly yearStart?: true;
  /** When the next membership year begins. */
  readonly yearEnd?: true;
  /** The membership year before this one; null without activity in it. */
  readonly previousYear?: YearStandingSelection;
  /** When the standing was read. */
  readonly asOf?: true;
};

export type TierSelection = {
  readonly name?: true;
  /** The points needed to reach it. */
  readonly points?: true;
};

export type ViewerSelection = {
  readonly partnerId?: true;
  readonly partnerName?: true;
  /** The ID of the key in lists of keys, not the key itself. */
  readonly keyId?: true;
  readonly scopes?: true;
  /** Null if it never expires. */
  readonly expiresAt?: true;
  /** How many root fields a window allows. */
  readonly budget?: true;
  readonly windowSeconds?: true;
  /** `sandbox` or `production`. */
  readonly environment?: true;
};

export type YearStandingSelection = {
  /** The tier that the points of this year alone reached. */
  readonly tier?: true;
  readonly points?: true;
  readonly stays?: true;
  readonly yearStart?: true;
  /** When the next membership year began. */
  readonly yearEnd?: true;
};

/** What a method selects without `select`: every field that takes no arguments. */

export const DEFAULTS = {
  Viewer: { partnerId: true, partnerName: true, keyId: true, scopes: true, expiresAt: true, budget: true, windowSeconds: true, environment: true },
  PartnerMemberRead: { id: true, memberId: true, email: true, firstName: true, lastName: true, externalId: true, enrolledAt: true, tier: true, points: true, standing: { partnerId: true, partnerName: true, tier: true, tierFrom: true, tierValidUntil: true, points: true, stays: true, nextTier: true, pointsToNextTier: true, yearStart: true, yearEnd: true, previousYear: { tier: true, points: true, stays: true, yearStart: true, yearEnd: true }, asOf: true } },
  MemberLookup: { member: { id: true, memberId: true, email: true, firstName: true, lastName: true, externalId: true, enrolledAt: true, tier: true, points: true, standing: { partnerId: true, partnerName: true, tier: true, tierFrom: true, tierValidUntil: true, points: true, stays: true, nextTier: true, pointsToNextTier: true, yearStart: true, yearEnd: true, previousYear: { tier: true, points: true, stays: true, yearStart: true, yearEnd: true }, asOf: true } }, status: true },
  MemberConnection: { edges: { memberId: true, node: { id: true, memberId: true, email: true, firstName: true, lastName: true, externalId: true, enrolledAt: true, tier: true, points: true, standing: { partnerId: true, partnerName: true, tier: true, tierFrom: true, tierValidUntil: true, points: true, stays: true, nextTier: true, pointsToNextTier: true, yearStart: true, yearEnd: true, previousYear: { tier: true, points: true, stays: true, yearStart: true, yearEnd: true }, asOf: true } }, cursor: true, updatedAt: true, status: true }, pageInfo: { hasNextPage: true, hasPreviousPage: true, startCursor: true, endCursor: true } },
  SandboxMail: { id: true, to: true, subject: true, text: true, html: true, sentAt: true },
  Program: { membershipYearStart: true, timeZone: true, tierValidity: true, tiers: { name: true, points: true } },
  EventConnection: { edges: { node: { id: true, memberId: true, member: { id: true, memberId: true, email: true, firstName: true, lastName: true, externalId: true, enrolledAt: true, tier: true, points: true, standing: { partnerId: true, partnerName: true, tier: true, tierFrom: true, tierValidUntil: true, points: true, stays: true, nextTier: true, pointsToNextTier: true, yearStart: true, yearEnd: true, previousYear: { tier: true, points: true, stays: true, yearStart: true, yearEnd: true }, asOf: true } }, type: true, occurredAt: true, externalId: true, mergedMemberId: true, tierBefore: true, tierAfter: true, points: true, activityId: true }, cursor: true }, pageInfo: { hasNextPage: true, hasPreviousPage: true, startCursor: true, endCursor: true } },
  EnrollMemberPayload: { member: { id: true, memberId: true, email: true, firstName: true, lastName: true, externalId: true, enrolledAt: true, tier: true, points: true, standing: { partnerId: true, partnerName: true, tier: true, tierFrom: true, tierValidUntil: true, points: true, stays: true, nextTier: true, pointsToNextTier: true, yearStart: true, yearEnd: true, previousYear: { tier: true, points: true, stays: true, yearStart: true, yearEnd: true }, asOf: true } }, created: true },
  InviteMemberPayload: { accepted: true },
  EndEnrollmentPayload: { memberId: true },
  RequestMagicLinkPayload: { accepted: true },
  MagicLinkSession: { memberId: true, idToken: true, expiresAt: true },
  RecordedActivity: { activityId: true, outcome: true, argument: true },
} as const;

/** The methods of the surface, one for each of its root fields. */

export type Operations = {
  /** What the key of this request is, and what it may do. It needs no scope. */
  viewer: Operation<
    Record<string, never>,
    Viewer | null,
    ViewerSelection,
    typeof DEFAULTS.Viewer
  >;

  /**
   * The member with this address, current or historical, if actively enrolled with the calling
   * partner.
   */
  memberByEmail: Operation<
    QueryMemberByEmailArgs,
    PartnerMemberRead | null,
    PartnerMemberReadSelection,
    typeof DEFAULTS.PartnerMemberRead
  >;

  /** The member whose active enrollment with the calling partner has this external ID. */
  memberByExternalId: Operation<
    QueryMemberByExternalIdArgs,
    PartnerMemberRead | null,
    PartnerMemberReadSelection,
    typeof DEFAULTS.PartnerMemberRead
  >;

  /** The member with this ID, if actively enrolled with the calling partner. A member ID never changes. */
  memberById: Operation<
    QueryMemberByIdArgs,
    PartnerMemberRead | null,
    PartnerMemberReadSelection,
    typeof DEFAULTS.PartnerMemberRead
  >;

  /**
   * Looks up 1 to 100 members at once, in the order of the keys; 10 keys cost 1. A key that finds no
   * member, or that is not valid, is not an error.
   */
  memberLookups: Operation<
    QueryMemberLookupsArgs,
    ReadonlyArray<MemberLookup>,
    MemberLookupSelection,
    typeof DEFAULTS.MemberLookup
  >;

  /**
   * The members enrolled with the calling partner, in the order of the last change that the partner
   * could see, in pages.
   */
  members: Operation<
    QueryMembersArgs,
    MemberConnection | null,
    MemberConnectionSelection,
    typeof DEFAULTS.MemberConnection
  >;

  /**
   * The emails that calls of this partner have sent to an address at `inbox.test` in the last 24
   * hours, newest first, at most 100. Only a sandbox has them; empty for any other address.
   */
  sandboxMails: Operation<
    QuerySandboxMailsArgs,
    ReadonlyArray<SandboxMail>,
    SandboxMailSelection,
    typeof DEFAULTS.SandboxMail
  >;

  /** The calling partner's membership year and tiers. */
  program: Operation<
    Record<string, never>,
    Program | null,
    ProgramSelection,
    typeof DEFAULTS.Program
  >;

  /**
   * What changed for the calling partner, oldest first. `first` is from 1 to 500. Pass `endCursor` as
   * `after` to get each event exactly once. With `types`, a page looks at up to 10 times `first`
   * events, so it can have fewer than `first` even if there are more.
   */
  events: Operation<
    QueryEventsArgs,
    EventConnection | null,
    EventConnectionSelection,
    typeof DEFAULTS.EventConnection
  >;

  /** Enrolls a member with the calling partner. Repeated with the same input, it changes nothing. */
  enrollMember: Operation<
    MutationEnrollMemberArgs,
    EnrollMemberPayload,
    EnrollMemberPayloadSelection,
    typeof DEFAULTS.EnrollMemberPayload
  >;

  /**
   * Invites the person with this address to enroll with the calling partner: mails a link to a page
   * that names the partner. The enrollment exists once the person agrees there. The response does not
   * reveal whether the address is a member's.
   */
  inviteMember: Operation<
    MutationInviteMemberArgs,
    InviteMemberPayload,
    InviteMemberPayloadSelection,
    typeof DEFAULTS.InviteMemberPayload
  >;

  /**
   * Ends the member's enrollment with the calling partner and frees its external ID. Repeated, it
   * changes nothing.
   */
  endEnrollment: Operation<
    MutationEndEnrollmentArgs,
    EndEnrollmentPayload,
    EndEnrollmentPayloadSelection,
    typeof DEFAULTS.EndEnrollmentPayload
  >;

  /**
   * Sets the external ID of the member's active enrollment with the calling partner. Null removes
   * it; leaving it out is an error.
   */
  changeExternalId: Operation<
    MutationChangeExternalIdArgs,
    PartnerMemberRead,
    PartnerMemberReadSelection,
    typeof DEFAULTS.PartnerMemberRead
  >;

  /**
   * Corrects the names of an enrolled member for the calling partner. Null clears a name; a name that
   * is left out stays as it is. No other partner sees them.
   */
  updateMember: Operation<
    MutationUpdateMemberArgs,
    PartnerMemberRead,
    PartnerMemberReadSelection,
    typeof DEFAULTS.PartnerMemberRead
  >;

  /**
   * Mails a sign-in link to the member with this address, if actively enrolled with the calling
   * partner. The response does not reveal whether there is such a member.
   */
  requestMagicLink: Operation<
    MutationRequestMagicLinkArgs,
    RequestMagicLinkPayload,
    RequestMagicLinkPayloadSelection,
    typeof DEFAULTS.RequestMagicLinkPayload
  >;

  /**
   * Exchanges the token of a link that the calling partner requested for an ID token of the member.
   * A token works once.
   */
  exchangeMagicLink: Operation<
    MutationExchangeMagicLinkArgs,
    MagicLinkSession,
    MagicLinkSessionSelection,
    typeof DEFAULTS.MagicLinkSession
  >;

  /**
   * Records 1 to 100 activities of the calling partner; 10 of them cost 1. The outcomes are in the
   * order of the activities. An activity that is recorded already is not recorded again, so the call
   * can be repeated. Needs a key with the scope `ingest`, which keys lack by default.
   */
  recordActivities: Operation<
    MutationRecordActivitiesArgs,
    ReadonlyArray<RecordedActivity>,
    RecordedActivitySelection,
    typeof DEFAULTS.RecordedActivity
  >;
};

/** The objects of the surface, to build documents and to check responses. */

export const SCHEMA = {
  Activity: {
    activityId: { type: 'ID!', leaf: 'string' },
    partnerId: { type: 'ID!', leaf: 'string' },
    points: { type: 'Int!', leaf: 'number' },
    stays: { type: 'Int!', leaf: 'number' },
    occurredAt: { type: 'DateTime!', leaf: 'string' },
    membershipYear: { type: 'String!', leaf: 'string' },
  },
  ActivityConnection: {
    edges: { type: '[ActivityEdge!]!' },
    pageInfo: { type: 'PageInfo!' },
  },
  ActivityEdge: {
    node: { type: 'Activity!' },
    cursor: { type: 'String!', leaf: 'string' },
  },
  EndEnrollmentPayload: {
    memberId: { type: 'ID!', leaf: 'string' },
  },
  EnrollMemberPayload: {
    member: { type: 'PartnerMemberRead!' },
    created: { type: 'Boolean!', leaf: 'boolean' },
  },
  Event: {
    id: { type: 'ID!', leaf: 'string' },
    memberId: { type: 'ID', leaf: 'string' },
    member: { type: 'PartnerMemberRead' },
    type: { type: 'EventType!', leaf: 'string' },
    occurredAt: { type: 'DateTime!', leaf: 'string' },
    externalId: { type: 'String', leaf: 'string' },
    mergedMemberId: { type: 'ID', leaf: 'string' },
    tierBefore: { type: 'String', leaf: 'string' },
    tierAfter: { type: 'String', leaf: 'string' },
    points: { type: 'Int', leaf: 'number' },
    activityId: { type: 'ID', leaf: 'string' },
  },
  EventConnection: {
    edges: { type: '[EventEdge!]!' },
    pageInfo: { type: 'PageInfo!' },
  },
  EventEdge: {
    node: { type: 'Event!' },
    cursor: { type: 'String!', leaf: 'string' },
  },
  InviteMemberPayload: {
    accepted: { type: 'Boolean!', leaf: 'boolean' },
  },
  MagicLinkSession: {
    memberId: { type: 'ID!', leaf: 'string' },
    idToken: { type: 'String!', leaf: 'string' },
    expiresAt: { type: 'String!', leaf: 'string' },
  },
  MemberConnection: {
    edges: { type: '[MemberEdge!]!' },
    pageInfo: { type: 'PageInfo!' },
  },
  MemberEdge: {
    memberId: { type: 'ID!', leaf: 'string' },
    node: { type: 'PartnerMemberRead' },
    cursor: { type: 'String!', leaf: 'string' },
    updatedAt: { type: 'DateTime!', leaf: 'string' },
    status: { type: 'EnrollmentStatus!', leaf: 'string' },
  },
  MemberLookup: {
    member: { type: 'PartnerMemberRead' },
    status: { type: 'LookupStatus!', leaf: 'string' },
  },
  Mutation: {
    enrollMember: { type: 'EnrollMemberPayload', arguments: { input: 'EnrollMemberInput!' } },
    inviteMember: { type: 'InviteMemberPayload', arguments: { input: 'EnrollMemberInput!' } },
    endEnrollment: { type: 'EndEnrollmentPayload', arguments: { memberId: 'ID!' } },
    changeExternalId: { type: 'PartnerMemberRead', arguments: { memberId: 'ID!',externalId: 'String' } },
    updateMember: { type: 'PartnerMemberRead', arguments: { memberId: 'ID!',input: 'UpdateMemberInput!' } },
    requestMagicLink: { type: 'RequestMagicLinkPayload', arguments: { email: 'String!' } },
    exchangeMagicLink: { type: 'MagicLinkSession', arguments: { token: 'String!' } },
    recordActivities: { type: '[RecordedActivity!]', arguments: { activities: '[ActivityInput!]!' } },
  },
  PageInfo: {
    hasNextPage: { type: 'Boolean!', leaf: 'boolean' },
    hasPreviousPage: { type: 'Boolean!', leaf: 'boolean' },
    startCursor: { type: 'String', leaf: 'string' },
    endCursor: { type: 'String', leaf: 'string' },
  },
  PartnerMemberRead: {
    id: { type: 'ID!', leaf: 'string' },
    memberId: { type: 'ID!', leaf: 'string' },
    email: { type: 'String!', leaf: 'string' },
    firstName: { type: 'String', leaf: 'string' },
    lastName: { type: 'String', leaf: 'string' },
    externalId: { type: 'String', leaf: 'string' },
    enrolledAt: { type: 'DateTime', leaf: 'string' },
    tier: { type: 'String!', leaf: 'string' },
    points: { type: 'Int!', leaf: 'number' },
    standing: { type: 'Standing' },
    activities: { type: 'ActivityConnection!', arguments: { first: 'Int',after: 'String' } },
  },
  Program: {
    membershipYearStart: { type: 'String!', leaf: 'string' },
    timeZone: { type: 'String!', leaf: 'string' },
    tierValidity: { type: 'TierValidity!', leaf: 'string' },
    tiers: { type: '[Tier!]!' },
  },
  Query: {
    viewer: { type: 'Viewer' },
    memberByEmail: { type: 'PartnerMemberRead', arguments: { email: 'String!' } },
    memberByExternalId: { type: 'PartnerMemberRead', arguments: { externalId: 'String!' } },
    memberById: { type: 'PartnerMemberRead', arguments: { memberId: 'ID!' } },
    memberLookups: { type: '[MemberLookup!]', arguments: { keys: '[MemberKey!]!' } },
    members: { type: 'MemberConnection', arguments: { first: 'Int',after: 'String',updatedSince: 'DateTime',status: 'EnrollmentStatus' } },
    sandboxMails: { type: '[SandboxMail!]', arguments: { email: 'String!' } },
    program: { type: 'Program' },
    events: { type: 'EventConnection', arguments: { first: 'Int',after: 'String',types: '[EventType!]' } },
  },
  RecordedActivity: {
    activityId: { type: 'ID!', leaf: 'string' },
    outcome: { type: 'ActivityOutcome!', leaf: 'string' },
    argument: { type: 'String', leaf: 'string' },
  },
  RequestMagicLinkPayload: {
    accepted: { type: 'Boolean!', leaf: 'boolean' },
  },
  SandboxMail: {
    id: { type: 'ID!', leaf: 'string' },
    to: { type: 'String!', leaf: 'string' },
    subject: { type: 'String!', leaf: 'string' },
    text: { type: 'String!', leaf: 'string' },
    html: { type: 'String', leaf: 'string' },
    sentAt: { type: 'DateTime!', leaf: 'string' },
  },
  Standing: {
    partnerId: { type: 'ID!', leaf: 'string' },
    partnerName: { type: 'String!', leaf: 'string' },
    tier: { type: 'String!', leaf: 'string' },
    tierFrom: { type: 'DateTime!', leaf: 'string' },
    tierValidUntil: { type: 'DateTime!', leaf: 'string' },
    points: { type: 'Int!', leaf: 'number' },
    stays: { type: 'Int!', leaf: 'number' },
    nextTier: { type: 'String', leaf: 'string' },
    pointsToNextTier: { type: 'Int', leaf: 'number' },
    yearStart: { type: 'DateTime!', leaf: 'string' },
    yearEnd: { type: 'DateTime!', leaf: 'string' },
    previousYear: { type: 'YearStanding' },
    asOf: { type: 'DateTime!', leaf: 'string' },
  },
  Tier: {
    name: { type: 'String!', leaf: 'string' },
    points: { type: 'Int!', leaf: 'number' },
  },
  Viewer: {
    partnerId: { type: 'ID!', leaf: 'string' },
    partnerName: { type: 'String!', leaf: 'string' },
    keyId: { type: 'ID!', leaf: 'string' },
    scopes: { type: '[String!]!', leaf: 'string' },
    expiresAt: { type: 'DateTime', leaf: 'string' },
    budget: { type: 'Int!', leaf: 'number' },
    windowSeconds: { type: 'Int!', leaf: 'number' },
    environment: { type: 'String!', leaf: 'string' },
  },
  YearStanding: {
    tier: { type: 'String!', leaf: 'string' },
    points: { type: 'Int!', leaf: 'number' },
    stays: { type: 'Int!', leaf: 'number' },
    yearStart: { type: 'DateTime!', leaf: 'string' },
    yearEnd: { type: 'DateTime!', leaf: 'string' },
  },
} as const satisfies Schema;
