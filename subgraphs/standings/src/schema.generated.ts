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
  DateTime: { input: unknown; output: Date; }
  _FieldSet: { input: any; output: any; }
};

export type Query = {
  program: Maybe<Program>;
  events: Maybe<EventConnection>;
  disabledWebhooks: Scalars['String']['output'];
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

export type Program = {
  membershipYearStart: Scalars['String']['output'];
  timeZone: Scalars['String']['output'];
  tierValidity: TierValidity;
  tiers: Array<Tier>;
};

export type TierValidity =
  | 'YEAR'
  | 'NEXT_YEAR';

export type Tier = {
  name: Scalars['String']['output'];
  points: Scalars['Int']['output'];
};

export type Mutation = {
  recordActivities: Maybe<Array<RecordedActivity>>;
  manageWebhooks: Scalars['String']['output'];
};


export type MutationRecordActivitiesArgs = {
  activities: Array<ActivityInput>;
};


export type MutationManageWebhooksArgs = {
  request: Scalars['String']['input'];
  isLocal: Scalars['Boolean']['input'];
};

export type ActivityInput = {
  activityId: Scalars['ID']['input'];
  memberId: Scalars['ID']['input'];
  points: Scalars['Int']['input'];
  stays?: InputMaybe<Scalars['Int']['input']>;
  occurredAt: Scalars['DateTime']['input'];
};

export type RecordedActivity = {
  activityId: Scalars['ID']['output'];
  outcome: ActivityOutcome;
  argument: Maybe<Scalars['String']['output']>;
  memberId: Maybe<Scalars['ID']['output']>;
};

export type ActivityOutcome =
  | 'RECORDED'
  | 'ALREADY_RECORDED'
  | 'CONFLICT'
  | 'OUT_OF_RANGE'
  | 'NOT_ENROLLED'
  | 'INVALID';

export type PartnerMemberRead = {
  memberId: Scalars['ID']['output'];
  tier: Scalars['String']['output'];
  points: Scalars['Int']['output'];
  standing: Maybe<Standing>;
  activities: ActivityConnection;
};


export type PartnerMemberReadActivitiesArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
};

export type MemberProfile = {
  memberId: Scalars['ID']['output'];
  activePartnerIds: Array<Scalars['ID']['output']>;
  membershipYearStats: MembershipYearStats;
  partnerStandings: Array<PartnerStanding>;
  standings: Array<Standing>;
  activities: ActivityConnection;
};


export type MemberProfileActivitiesArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
};

export type Standing = {
  partnerId: Scalars['ID']['output'];
  tier: Scalars['String']['output'];
  tierFrom: Scalars['DateTime']['output'];
  tierValidUntil: Scalars['DateTime']['output'];
  points: Scalars['Int']['output'];
  stays: Scalars['Int']['output'];
  nextTier: Maybe<Scalars['String']['output']>;
  pointsToNextTier: Maybe<Scalars['Int']['output']>;
  yearStart: Scalars['DateTime']['output'];
  yearEnd: Scalars['DateTime']['output'];
  previousYear: Maybe<YearStanding>;
  asOf: Scalars['DateTime']['output'];
};

export type YearStanding = {
  tier: Scalars['String']['output'];
  points: Scalars['Int']['output'];
  stays: Scalars['Int']['output'];
  yearStart: Scalars['DateTime']['output'];
  yearEnd: Scalars['DateTime']['output'];
};

export type ActivityConnection = {
  edges: Array<ActivityEdge>;
  pageInfo: PageInfo;
};

export type ActivityEdge = {
  node: Activity;
  cursor: Scalars['String']['output'];
};

export type PageInfo = {
  hasNextPage: Scalars['Boolean']['output'];
  hasPreviousPage: Scalars['Boolean']['output'];
  startCursor: Maybe<Scalars['String']['output']>;
  endCursor: Maybe<Scalars['String']['output']>;
};

export type EventConnection = {
  edges: Array<EventEdge>;
  pageInfo: PageInfo;
};

export type EventEdge = {
  node: Event;
  cursor: Scalars['String']['output'];
};

export type Event = {
  id: Scalars['ID']['output'];
  type: EventType;
  occurredAt: Scalars['DateTime']['output'];
  memberId: Maybe<Scalars['ID']['output']>;
  externalId: Maybe<Scalars['String']['output']>;
  mergedMemberId: Maybe<Scalars['ID']['output']>;
  tierBefore: Maybe<Scalars['String']['output']>;
  tierAfter: Maybe<Scalars['String']['output']>;
  points: Maybe<Scalars['Int']['output']>;
  activityId: Maybe<Scalars['ID']['output']>;
};

export type EventType =
  | 'MEMBER_ENROLLED'
  | 'ENROLLMENT_ENDED'
  | 'MEMBER_UPDATED'
  | 'EXTERNAL_ID_CHANGED'
  | 'MEMBER_ERASED'
  | 'MEMBER_MERGED'
  | 'POINTS_CHANGED'
  | 'TIER_CHANGED'
  | 'YEAR_ENDED'
  | 'PROGRAM_CHANGED';

export type Activity = {
  activityId: Scalars['ID']['output'];
  partnerId: Scalars['ID']['output'];
  points: Scalars['Int']['output'];
  stays: Scalars['Int']['output'];
  occurredAt: Scalars['DateTime']['output'];
  membershipYear: Scalars['String']['output'];
};

export type MembershipYearStats = {
  akinPoints: Scalars['Int']['output'];
  totalStays: Scalars['Int']['output'];
};

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
