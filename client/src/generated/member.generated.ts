// The member surface, generated from its schema by `npm run generate`.
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

/** The signed-in member's own profile. */
export type MemberProfile = {
  readonly memberId: Scalars['ID']['output'];
  readonly email: Scalars['String']['output'];
  readonly firstName: Maybe<Scalars['String']['output']>;
  readonly lastName: Maybe<Scalars['String']['output']>;
  /** Totals over all partners with which the member is actively enrolled. */
  readonly membershipYearStats: MembershipYearStats;
  /** The standing with each partner with which the member is actively enrolled. */
  readonly partnerStandings: ReadonlyArray<PartnerStanding>;
  /** The standing with each partner with which the member is actively enrolled, in detail. */
  readonly standings: ReadonlyArray<Standing>;
  /**
   * The activities with all partners with which the member is actively enrolled, of this and earlier
   * years, newest first. `first` is from 1 to 100.
   */
  readonly activities: ActivityConnection;
};


/** The signed-in member's own profile. */
export type MemberProfileActivitiesArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
};

/** Totals over the current membership year of each partner. */
export type MembershipYearStats = {
  /** The points with all partners shown. */
  readonly akinPoints: Scalars['Int']['output'];
  /** The stays with all partners shown. */
  readonly totalStays: Scalars['Int']['output'];
};

export type Mutation = {
  /** Mails a confirmation link to the address that the signed-in member wants to change to. */
  readonly requestEmailChange: Maybe<RequestEmailChangePayload>;
  /**
   * Confirms a change of address with the token from the mail: the new address becomes the signed-in
   * member's current one.
   */
  readonly confirmEmailChange: Maybe<MemberProfile>;
  /**
   * Sets the signed-in member's own names. Every partner that the member has confirmed sees these
   * instead of others. Null clears a name; a name that is left out stays as it is.
   */
  readonly updateProfile: Maybe<MemberProfile>;
};


export type MutationRequestEmailChangeArgs = {
  email: Scalars['String']['input'];
};


export type MutationConfirmEmailChangeArgs = {
  token: Scalars['String']['input'];
};


export type MutationUpdateProfileArgs = {
  input: UpdateProfileInput;
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

/** The standing with one partner in the current membership year. */
export type PartnerStanding = {
  readonly partnerId: Scalars['ID']['output'];
  readonly tier: Scalars['String']['output'];
  readonly points: Scalars['Int']['output'];
};

export type Query = {
  /** The signed-in member's own profile. */
  readonly memberProfile: Maybe<MemberProfile>;
};


export type QueryMemberProfileArgs = {
  id: Scalars['ID']['input'];
};

export type RequestEmailChangePayload = {
  /** Always true. */
  readonly accepted: Scalars['Boolean']['output'];
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

/** The member's own names. */
export type UpdateProfileInput = {
  /** At most 100 characters. */
  readonly firstName?: InputMaybe<Scalars['String']['input']>;
  /** At most 100 characters. */
  readonly lastName?: InputMaybe<Scalars['String']['input']>;
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

export type MemberProfileSelection = {
  readonly memberId?: true;
  readonly email?: true;
  readonly firstName?: true;
  readonly lastName?: true;
  /** Totals over all partners with which the member is actively enrolled. */
  readonly membershipYearStats?: MembershipYearStatsSelection;
  /** The standing with each partner with which the member is actively enrolled. */
  readonly partnerStandings?: PartnerStandingSelection;
  /** The standing with each partner with which the member is actively enrolled, in detail. */
  readonly standings?: StandingSelection;
  /**
   * The activities with all partners with which the member is actively enrolled, of this and earlier
   * years, newest first. `first` is from 1 to 100.
   */
  readonly activities?: ActivityConnectionSelection & { readonly $arguments?: MemberProfileActivitiesArgs };
};

export type MembershipYearStatsSelection = {
  /** The points with all partners shown. */
  readonly akinPoints?: true;
  /** The stays with all partners shown. */
  readonly totalStays?: true;
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

export type PartnerStandingSelection = {
  readonly partnerId?: true;
  readonly tier?: true;
  readonly points?: true;
};

export type RequestEmailChangePayloadSelection = {
  /** Always true. */
  readonly accepted?: true;
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
  MemberProfile: { memberId: true, email: true, firstName: true, lastName: true, membershipYearStats: { akinPoints: true, totalStays: true }, partnerStandings: { partnerId: true, tier: true, points: true }, standings: { partnerId: true, partnerName: true, tier: true, tierFrom: true, tierValidUntil: true, points: true, stays: true, nextTier: true, pointsToNextTier: true, yearStart: true, yearEnd: true, previousYear: { tier: true, points: true, stays: true, yearStart: true, yearEnd: true }, asOf: true } },
  RequestEmailChangePayload: { accepted: true },
} as const;

/** The methods of the surface, one for each of its root fields. */

export type Operations = {
  /** The signed-in member's own profile. */
  memberProfile: Operation<
    QueryMemberProfileArgs,
    MemberProfile | null,
    MemberProfileSelection,
    typeof DEFAULTS.MemberProfile
  >;

  /** Mails a confirmation link to the address that the signed-in member wants to change to. */
  requestEmailChange: Operation<
    MutationRequestEmailChangeArgs,
    RequestEmailChangePayload,
    RequestEmailChangePayloadSelection,
    typeof DEFAULTS.RequestEmailChangePayload
  >;

  /**
   * Confirms a change of address with the token from the mail: the new address becomes the signed-in
   * member's current one.
   */
  confirmEmailChange: Operation<
    MutationConfirmEmailChangeArgs,
    MemberProfile,
    MemberProfileSelection,
    typeof DEFAULTS.MemberProfile
  >;

  /**
   * Sets the signed-in member's own names. Every partner that the member has confirmed sees these
   * instead of others. Null clears a name; a name that is left out stays as it is.
   */
  updateProfile: Operation<
    MutationUpdateProfileArgs,
    MemberProfile,
    MemberProfileSelection,
    typeof DEFAULTS.MemberProfile
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
  MemberProfile: {
    memberId: { type: 'ID!', leaf: 'string' },
    email: { type: 'String!', leaf: 'string' },
    firstName: { type: 'String', leaf: 'string' },
    lastName: { type: 'String', leaf: 'string' },
    membershipYearStats: { type: 'MembershipYearStats!' },
    partnerStandings: { type: '[PartnerStanding!]!' },
    standings: { type: '[Standing!]!' },
    activities: { type: 'ActivityConnection!', arguments: { first: 'Int',after: 'String' } },
  },
  MembershipYearStats: {
    akinPoints: { type: 'Int!', leaf: 'number' },
    totalStays: { type: 'Int!', leaf: 'number' },
  },
  Mutation: {
    requestEmailChange: { type: 'RequestEmailChangePayload', arguments: { email: 'String!' } },
    confirmEmailChange: { type: 'MemberProfile', arguments: { token: 'String!' } },
    updateProfile: { type: 'MemberProfile', arguments: { input: 'UpdateProfileInput!' } },
  },
  PageInfo: {
    hasNextPage: { type: 'Boolean!', leaf: 'boolean' },
    hasPreviousPage: { type: 'Boolean!', leaf: 'boolean' },
    startCursor: { type: 'String', leaf: 'string' },
    endCursor: { type: 'String', leaf: 'string' },
  },
  PartnerStanding: {
    partnerId: { type: 'ID!', leaf: 'string' },
    tier: { type: 'String!', leaf: 'string' },
    points: { type: 'Int!', leaf: 'number' },
  },
  Query: {
    memberProfile: { type: 'MemberProfile', arguments: { id: 'ID!' } },
  },
  RequestEmailChangePayload: {
    accepted: { type: 'Boolean!', leaf: 'boolean' },
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
  YearStanding: {
    tier: { type: 'String!', leaf: 'string' },
    points: { type: 'Int!', leaf: 'number' },
    stays: { type: 'Int!', leaf: 'number' },
    yearStart: { type: 'DateTime!', leaf: 'string' },
    yearEnd: { type: 'DateTime!', leaf: 'string' },
  },
} as const satisfies Schema;
