// Resolver types, generated from schema.graphql by `npm run generate`.
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { PartnerMemberEntity, ProfileEntity, CurrentStanding } from './entities.ts';
import type { Program as PartnerProgram } from './rules/program.ts';
import type { Event as StoredEvent } from './rules/event.ts';
import type { SubgraphContext } from '@partner-loyalty/runtime/subgraph/types.ts';
import type { CompleteResolvers } from '@partner-loyalty/runtime/subgraph/resolvers.ts';
export type Maybe<T> = T | null | undefined;
export type InputMaybe<T> = T | null | undefined;
export type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type MakeOptional<T, K extends keyof T> = Omit<T, K> & { [SubKey in K]?: Maybe<T[SubKey]> };
export type MakeMaybe<T, K extends keyof T> = Omit<T, K> & { [SubKey in K]: Maybe<T[SubKey]> };
export type MakeEmpty<T extends { [key: string]: unknown }, K extends keyof T> = { [_ in K]?: never };
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
export type Omit<T, K extends keyof T> = Pick<T, Exclude<keyof T, K>>;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** An instant in UTC, in the format of RFC 3339: 2026-03-01T12:00:00.000Z */
  DateTime: { input: unknown; output: Date; }
  _FieldSet: { input: any; output: any; }
};

export type Query = {
  /** The calling partner's membership year and tiers. */
  program: Maybe<Program>;
  /**
   * What changed for the calling partner, oldest first. `first` is from 1 to 500. Pass `endCursor` as
   * `after` to get each event exactly once. With `types`, a page looks at up to 10 times `first`
   * events, so it can have fewer than `first` even if there are more.
   */
  events: Maybe<EventConnection>;
  /**
   * The webhook endpoints that were disabled at `since` or later, except by a suspension, in JSON, as
   * runtime/src/manage/webhooks.ts has them. In milliseconds since 1970.
   */
  disabledWebhooks: Scalars['String']['output'];
  /** The endpoints that fail and have had no success since `before` or earlier, in the same form. */
  failingWebhooks: Scalars['String']['output'];
};


export type QueryEventsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
  types?: InputMaybe<Array<EventType>>;
};


export type QueryDisabledWebhooksArgs = {
  since: Scalars['Float']['input'];
};


export type QueryFailingWebhooksArgs = {
  before: Scalars['Float']['input'];
};

/** How a partner's membership year and tiers work. */
export type Program = {
  /** The first day of the membership year, as MM-DD. */
  membershipYearStart: Scalars['String']['output'];
  /** The IANA time zone in which that day begins. */
  timeZone: Scalars['String']['output'];
  tierValidity: TierValidity;
  /** From the lowest to the highest. */
  tiers: Array<Tier>;
};

/** How long a member keeps a tier after reaching it. */
export type TierValidity =
  /** To the end of the membership year in which it was earned. */
  | 'YEAR'
  /** To the end of the membership year after that. */
  | 'NEXT_YEAR';

export type Tier = {
  name: Scalars['String']['output'];
  /** The points needed to reach it. */
  points: Scalars['Int']['output'];
};

export type Mutation = {
  /**
   * Records 1 to 100 activities of the calling partner; 10 of them cost 1. The outcomes are in the
   * order of the activities. An activity that is recorded already is not recorded again, so the call
   * can be repeated. Needs a key with the scope `ingest`, which keys lack by default.
   */
  recordActivities: Maybe<Array<RecordedActivity>>;
  /**
   * Manages a partner's webhooks for its staff. Both are JSON, as runtime/src/manage/webhooks.ts has
   * them; `isLocal` says whether this machine alone can reach the gateway. It must not be sent twice.
   */
  manageWebhooks: Scalars['String']['output'];
};


export type MutationRecordActivitiesArgs = {
  activities: Array<ActivityInput>;
};


export type MutationManageWebhooksArgs = {
  request: Scalars['String']['input'];
  isLocal: Scalars['Boolean']['input'];
};

/** Points and stays that a member earned, or gave back if they are negative. */
export type ActivityInput = {
  /** The calling partner's own ID for the activity, at most 128 characters. */
  activityId: Scalars['ID']['input'];
  memberId: Scalars['ID']['input'];
  /** From -1,000,000,000 to 1,000,000,000. */
  points: Scalars['Int']['input'];
  /** From -1,000,000,000 to 1,000,000,000. */
  stays?: InputMaybe<Scalars['Int']['input']>;
  /** From 1900 to a day in the future. */
  occurredAt: Scalars['DateTime']['input'];
};

/** The outcome for one activity. */
export type RecordedActivity = {
  activityId: Scalars['ID']['output'];
  outcome: ActivityOutcome;
  /** If it is `INVALID`, the argument at fault, such as activities.3.occurredAt; otherwise null. */
  argument: Maybe<Scalars['String']['output']>;
  /** Null for `INVALID` and `NOT_ENROLLED`. It is for the audit log only. */
  memberId: Maybe<Scalars['ID']['output']>;
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

/** A member as the calling partner sees it. */
export type PartnerMemberRead = {
  memberId: Scalars['ID']['output'];
  /** The tier held with the calling partner. */
  tier: Scalars['String']['output'];
  /** The points with the calling partner in the current membership year; 0 without activity. */
  points: Scalars['Int']['output'];
  /** The standing with the calling partner; null with SERVICE_UNAVAILABLE if it cannot be read. */
  standing: Maybe<Standing>;
  /**
   * The activities with the calling partner, of this and earlier years, newest first. `first` is from
   * 1 to 100.
   */
  activities: ActivityConnection;
};


/** A member as the calling partner sees it. */
export type PartnerMemberReadActivitiesArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
};

/** The signed-in member's own profile. */
export type MemberProfile = {
  memberId: Scalars['ID']['output'];
  activePartnerIds: Array<Scalars['ID']['output']>;
  /** Totals over all partners with which the member is actively enrolled. */
  membershipYearStats: MembershipYearStats;
  /** The standing with each partner with which the member is actively enrolled. */
  partnerStandings: Array<PartnerStanding>;
  /** The standing with each partner with which the member is actively enrolled, in detail. */
  standings: Array<Standing>;
  /**
   * The activities with all partners with which the member is actively enrolled, of this and earlier
   * years, newest first. `first` is from 1 to 100.
   */
  activities: ActivityConnection;
};


/** The signed-in member's own profile. */
export type MemberProfileActivitiesArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
};

/** A standing with one partner in the current membership year. */
export type Standing = {
  partnerId: Scalars['ID']['output'];
  /** The tier held. */
  tier: Scalars['String']['output'];
  /** When the membership year began whose points earned the tier. */
  tierFrom: Scalars['DateTime']['output'];
  /** When the tier ends, unless it is earned again. */
  tierValidUntil: Scalars['DateTime']['output'];
  points: Scalars['Int']['output'];
  stays: Scalars['Int']['output'];
  /** The tier above the one held; null at the top. */
  nextTier: Maybe<Scalars['String']['output']>;
  /** How many more points this year it takes to reach it; null at the top. */
  pointsToNextTier: Maybe<Scalars['Int']['output']>;
  /** When this membership year began. */
  yearStart: Scalars['DateTime']['output'];
  /** When the next membership year begins. */
  yearEnd: Scalars['DateTime']['output'];
  /** The membership year before this one; null without activity in it. */
  previousYear: Maybe<YearStanding>;
  /** When the standing was read. */
  asOf: Scalars['DateTime']['output'];
};

/** What a member reached in one membership year. */
export type YearStanding = {
  /** The tier that the points of this year alone reached. */
  tier: Scalars['String']['output'];
  points: Scalars['Int']['output'];
  stays: Scalars['Int']['output'];
  yearStart: Scalars['DateTime']['output'];
  /** When the next membership year began. */
  yearEnd: Scalars['DateTime']['output'];
};

/** A page of activities, as in the GraphQL Cursor Connections Specification. */
export type ActivityConnection = {
  edges: Array<ActivityEdge>;
  pageInfo: PageInfo;
};

export type ActivityEdge = {
  node: Activity;
  /** Valid only for the same caller and the same member. */
  cursor: Scalars['String']['output'];
};

export type PageInfo = {
  /** Whether there are more entries after this page. */
  hasNextPage: Scalars['Boolean']['output'];
  /** Whether this is not the first page. */
  hasPreviousPage: Scalars['Boolean']['output'];
  startCursor: Maybe<Scalars['String']['output']>;
  /** Pass it as `after` to get the next page. */
  endCursor: Maybe<Scalars['String']['output']>;
};

/** A page of events, as in the GraphQL Cursor Connections Specification. */
export type EventConnection = {
  edges: Array<EventEdge>;
  pageInfo: PageInfo;
};

export type EventEdge = {
  node: Event;
  /** Valid until the event after it is deleted. */
  cursor: Scalars['String']['output'];
};

/** A change that the partner can see. It contains no name and no address. */
export type Event = {
  /** It never changes: use it to recognize an event that you receive twice. */
  id: Scalars['ID']['output'];
  type: EventType;
  /** When the change was made or recorded. */
  occurredAt: Scalars['DateTime']['output'];
  /** Null if the event concerns no single member. */
  memberId: Maybe<Scalars['ID']['output']>;
  /** The partner's own ID for the member, as it was after the change. */
  externalId: Maybe<Scalars['String']['output']>;
  /** The ID of the member whom a merge has made part of this one. */
  mergedMemberId: Maybe<Scalars['ID']['output']>;
  tierBefore: Maybe<Scalars['String']['output']>;
  tierAfter: Maybe<Scalars['String']['output']>;
  /** The points of the activity, not the balance. */
  points: Maybe<Scalars['Int']['output']>;
  activityId: Maybe<Scalars['ID']['output']>;
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

/** Points and stays that a member earned or gave back. */
export type Activity = {
  activityId: Scalars['ID']['output'];
  partnerId: Scalars['ID']['output'];
  points: Scalars['Int']['output'];
  stays: Scalars['Int']['output'];
  occurredAt: Scalars['DateTime']['output'];
  /** The first day of the membership year that it is in, in the program's time zone: 2026-03-01 */
  membershipYear: Scalars['String']['output'];
};

/** Totals over the current membership year of each partner. */
export type MembershipYearStats = {
  /** The points with all partners shown. */
  akinPoints: Scalars['Int']['output'];
  /** The stays with all partners shown. */
  totalStays: Scalars['Int']['output'];
};

/** The standing with one partner in the current membership year. */
export type PartnerStanding = {
  partnerId: Scalars['ID']['output'];
  tier: Scalars['String']['output'];
  points: Scalars['Int']['output'];
};



export type ResolverTypeWrapper<T> = Promise<T> | T;

export type ReferenceResolver<TResult, TReference, TContext> = (
      reference: TReference,
      context: TContext,
      info: GraphQLResolveInfo
    ) => Promise<TResult> | TResult;

      type ScalarCheck<T, S> = S extends true ? T : NullableCheck<T, S>;
      type NullableCheck<T, S> = Maybe<T> extends T ? Maybe<ListCheck<NonNullable<T>, S>> : ListCheck<T, S>;
      type ListCheck<T, S> = T extends (infer U)[] ? NullableCheck<U, S>[] : GraphQLRecursivePick<T, S>;
      export type GraphQLRecursivePick<T, S> = { [K in keyof T & keyof S]: ScalarCheck<T[K], S[K]> };
    
export type Resolver<TResult, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = ResolverFn<TResult, TParent, TContext, TArgs>;

export type ResolverFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => Promise<TResult> | TResult;

export type SubscriptionSubscribeFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => AsyncIterable<TResult> | Promise<AsyncIterable<TResult>>;

export type SubscriptionResolveFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

export interface SubscriptionSubscriberObject<TResult, TKey extends string, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<{ [key in TKey]: TResult }, TParent, TContext, TArgs>;
  resolve?: SubscriptionResolveFn<TResult, { [key in TKey]: TResult }, TContext, TArgs>;
}

export interface SubscriptionResolverObject<TResult, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<any, TParent, TContext, TArgs>;
  resolve: SubscriptionResolveFn<TResult, any, TContext, TArgs>;
}

export type SubscriptionObject<TResult, TKey extends string, TParent, TContext, TArgs> =
  | SubscriptionSubscriberObject<TResult, TKey, TParent, TContext, TArgs>
  | SubscriptionResolverObject<TResult, TParent, TContext, TArgs>;

export type SubscriptionResolver<TResult, TKey extends string, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> =
  | ((...args: any[]) => SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>)
  | SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>;

export type TypeResolveFn<TTypes, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (
  parent: TParent,
  context: TContext,
  info: GraphQLResolveInfo
) => Maybe<TTypes> | Promise<Maybe<TTypes>>;

export type IsTypeOfResolverFn<T = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (obj: T, context: TContext, info: GraphQLResolveInfo) => boolean | Promise<boolean>;

export type NextResolverFn<T> = () => Promise<T>;

export type DirectiveResolverFn<TResult = Record<PropertyKey, never>, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = (
  next: NextResolverFn<TResult>,
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

/** Mapping of federation types */
export type FederationTypes = {
  PartnerMemberRead: PartnerMemberRead;
  MemberProfile: MemberProfile;
};

/** Mapping of federation reference types */
export type FederationReferenceTypes = {
  PartnerMemberRead:
    ( { __typename: 'PartnerMemberRead' }
    & GraphQLRecursivePick<FederationTypes['PartnerMemberRead'], {"memberId":true}> );
  MemberProfile:
    ( { __typename: 'MemberProfile' }
    & GraphQLRecursivePick<FederationTypes['MemberProfile'], {"memberId":true}>
    & ( Record<PropertyKey, never>
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}>
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}>
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}>
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}>
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}>
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}>
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}>
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}>
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}>
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}>
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}>
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}>
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}>
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}> ) );
};



/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  Query: ResolverTypeWrapper<undefined>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Float: ResolverTypeWrapper<Scalars['Float']['output']>;
  Program: ResolverTypeWrapper<PartnerProgram>;
  TierValidity: TierValidity;
  Tier: ResolverTypeWrapper<Tier>;
  Mutation: ResolverTypeWrapper<undefined>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  ActivityInput: ActivityInput;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  RecordedActivity: ResolverTypeWrapper<RecordedActivity>;
  ActivityOutcome: ActivityOutcome;
  PartnerMemberRead: ResolverTypeWrapper<PartnerMemberEntity>;
  MemberProfile: ResolverTypeWrapper<ProfileEntity>;
  Standing: ResolverTypeWrapper<CurrentStanding>;
  YearStanding: ResolverTypeWrapper<YearStanding>;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  ActivityConnection: ResolverTypeWrapper<ActivityConnection>;
  ActivityEdge: ResolverTypeWrapper<ActivityEdge>;
  PageInfo: ResolverTypeWrapper<PageInfo>;
  EventConnection: ResolverTypeWrapper<Omit<EventConnection, 'edges'> & { edges: Array<ResolversTypes['EventEdge']> }>;
  EventEdge: ResolverTypeWrapper<Omit<EventEdge, 'node'> & { node: ResolversTypes['Event'] }>;
  Event: ResolverTypeWrapper<StoredEvent>;
  EventType: EventType;
  Activity: ResolverTypeWrapper<Activity>;
  MembershipYearStats: ResolverTypeWrapper<MembershipYearStats>;
  PartnerStanding: ResolverTypeWrapper<CurrentStanding>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Query: undefined;
  Int: Scalars['Int']['output'];
  String: Scalars['String']['output'];
  Float: Scalars['Float']['output'];
  Program: PartnerProgram;
  Tier: Tier;
  Mutation: undefined;
  Boolean: Scalars['Boolean']['output'];
  ActivityInput: ActivityInput;
  ID: Scalars['ID']['output'];
  RecordedActivity: RecordedActivity;
  PartnerMemberRead: PartnerMemberEntity;
  MemberProfile: ProfileEntity;
  Standing: CurrentStanding;
  YearStanding: YearStanding;
  DateTime: Scalars['DateTime']['output'];
  ActivityConnection: ActivityConnection;
  ActivityEdge: ActivityEdge;
  PageInfo: PageInfo;
  EventConnection: Omit<EventConnection, 'edges'> & { edges: Array<ResolversParentTypes['EventEdge']> };
  EventEdge: Omit<EventEdge, 'node'> & { node: ResolversParentTypes['Event'] };
  Event: StoredEvent;
  Activity: Activity;
  MembershipYearStats: MembershipYearStats;
  PartnerStanding: CurrentStanding;
};

export type QueryResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  program?: Resolver<Maybe<ResolversTypes['Program']>, ParentType, ContextType>;
  events?: Resolver<Maybe<ResolversTypes['EventConnection']>, ParentType, ContextType, RequireFields<QueryEventsArgs, 'first'>>;
  disabledWebhooks?: Resolver<ResolversTypes['String'], ParentType, ContextType, RequireFields<QueryDisabledWebhooksArgs, 'since'>>;
  failingWebhooks?: Resolver<ResolversTypes['String'], ParentType, ContextType, RequireFields<QueryFailingWebhooksArgs, 'before'>>;
};

export type ProgramResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Program'] = ResolversParentTypes['Program']> = {
  membershipYearStart?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  timeZone?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  tierValidity?: Resolver<ResolversTypes['TierValidity'], ParentType, ContextType>;
  tiers?: Resolver<Array<ResolversTypes['Tier']>, ParentType, ContextType>;
};

export type TierResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Tier'] = ResolversParentTypes['Tier']> = {
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  points?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type MutationResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  recordActivities?: Resolver<Maybe<Array<ResolversTypes['RecordedActivity']>>, ParentType, ContextType, RequireFields<MutationRecordActivitiesArgs, 'activities'>>;
  manageWebhooks?: Resolver<ResolversTypes['String'], ParentType, ContextType, RequireFields<MutationManageWebhooksArgs, 'request' | 'isLocal'>>;
};

export type RecordedActivityResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['RecordedActivity'] = ResolversParentTypes['RecordedActivity']> = {
  activityId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  outcome?: Resolver<ResolversTypes['ActivityOutcome'], ParentType, ContextType>;
  argument?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  memberId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
};

export type PartnerMemberReadResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['PartnerMemberRead'] = ResolversParentTypes['PartnerMemberRead'], FederationReferenceType extends FederationReferenceTypes['PartnerMemberRead'] = FederationReferenceTypes['PartnerMemberRead']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['PartnerMemberRead']> | FederationReferenceType, FederationReferenceType, ContextType>;
  memberId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  tier?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  points?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  standing?: Resolver<Maybe<ResolversTypes['Standing']>, ParentType, ContextType>;
  activities?: Resolver<ResolversTypes['ActivityConnection'], ParentType, ContextType, RequireFields<PartnerMemberReadActivitiesArgs, 'first'>>;
};

export type MemberProfileResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['MemberProfile'] = ResolversParentTypes['MemberProfile'], FederationReferenceType extends FederationReferenceTypes['MemberProfile'] = FederationReferenceTypes['MemberProfile']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['MemberProfile']> | FederationReferenceType, FederationReferenceType, ContextType>;
  memberId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  membershipYearStats?: Resolver<ResolversTypes['MembershipYearStats'], ParentType, ContextType>;
  partnerStandings?: Resolver<Array<ResolversTypes['PartnerStanding']>, ParentType, ContextType>;
  standings?: Resolver<Array<ResolversTypes['Standing']>, ParentType, ContextType>;
  activities?: Resolver<ResolversTypes['ActivityConnection'], ParentType, ContextType, RequireFields<MemberProfileActivitiesArgs, 'first'>>;
};

export type StandingResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Standing'] = ResolversParentTypes['Standing']> = {
  partnerId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  tier?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  tierFrom?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  tierValidUntil?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  points?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  stays?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  nextTier?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  pointsToNextTier?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  yearStart?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  yearEnd?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  previousYear?: Resolver<Maybe<ResolversTypes['YearStanding']>, ParentType, ContextType>;
  asOf?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type YearStandingResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['YearStanding'] = ResolversParentTypes['YearStanding']> = {
  tier?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  points?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  stays?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  yearStart?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  yearEnd?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type ActivityConnectionResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['ActivityConnection'] = ResolversParentTypes['ActivityConnection']> = {
  edges?: Resolver<Array<ResolversTypes['ActivityEdge']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type ActivityEdgeResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['ActivityEdge'] = ResolversParentTypes['ActivityEdge']> = {
  node?: Resolver<ResolversTypes['Activity'], ParentType, ContextType>;
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type PageInfoResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['PageInfo'] = ResolversParentTypes['PageInfo']> = {
  hasNextPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  hasPreviousPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  startCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  endCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type EventConnectionResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['EventConnection'] = ResolversParentTypes['EventConnection']> = {
  edges?: Resolver<Array<ResolversTypes['EventEdge']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type EventEdgeResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['EventEdge'] = ResolversParentTypes['EventEdge']> = {
  node?: Resolver<ResolversTypes['Event'], ParentType, ContextType>;
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type EventResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Event'] = ResolversParentTypes['Event']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  type?: Resolver<ResolversTypes['EventType'], ParentType, ContextType>;
  occurredAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  memberId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  externalId?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  mergedMemberId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  tierBefore?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  tierAfter?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  points?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  activityId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
};

export type ActivityResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Activity'] = ResolversParentTypes['Activity']> = {
  activityId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  partnerId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  points?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  stays?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  occurredAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  membershipYear?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type MembershipYearStatsResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['MembershipYearStats'] = ResolversParentTypes['MembershipYearStats']> = {
  akinPoints?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  totalStays?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type PartnerStandingResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['PartnerStanding'] = ResolversParentTypes['PartnerStanding']> = {
  partnerId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  tier?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  points?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type Resolvers<ContextType = SubgraphContext> = {
  Query?: QueryResolvers<ContextType>;
  Program?: ProgramResolvers<ContextType>;
  Tier?: TierResolvers<ContextType>;
  Mutation?: MutationResolvers<ContextType>;
  RecordedActivity?: RecordedActivityResolvers<ContextType>;
  PartnerMemberRead?: PartnerMemberReadResolvers<ContextType>;
  MemberProfile?: MemberProfileResolvers<ContextType>;
  Standing?: StandingResolvers<ContextType>;
  YearStanding?: YearStandingResolvers<ContextType>;
  DateTime?: GraphQLScalarType;
  ActivityConnection?: ActivityConnectionResolvers<ContextType>;
  ActivityEdge?: ActivityEdgeResolvers<ContextType>;
  PageInfo?: PageInfoResolvers<ContextType>;
  EventConnection?: EventConnectionResolvers<ContextType>;
  EventEdge?: EventEdgeResolvers<ContextType>;
  Event?: EventResolvers<ContextType>;
  Activity?: ActivityResolvers<ContextType>;
  MembershipYearStats?: MembershipYearStatsResolvers<ContextType>;
  PartnerStanding?: PartnerStandingResolvers<ContextType>;
};


/** All resolvers that the schema needs. */
export type SubgraphResolvers = CompleteResolvers<Resolvers, ResolversTypes>;
