// Resolver types, generated from schema.graphql by `npm run generate`.
import type { GraphQLResolveInfo } from 'graphql';
import type { PartnerMemberEntity, ProfileEntity } from './entities.ts';
import type { SubgraphContext } from '@partner-loyalty/runtime';
import type { CompleteResolvers } from '@partner-loyalty/runtime';
export type Maybe<T> = T | null | undefined;
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
  _FieldSet: { input: any; output: any; }
};

/** A member as the calling partner sees it. */
export type PartnerMemberRead = {
  memberId: Scalars['ID']['output'];
  /** The tier with the calling partner in the current membership year. */
  tier: Scalars['String']['output'];
  /** The points with the calling partner in the current membership year; 0 without activity. */
  points: Scalars['Int']['output'];
};

/** The signed-in member's own profile. */
export type MemberProfile = {
  memberId: Scalars['ID']['output'];
  activePartnerIds: Array<Scalars['ID']['output']>;
  /** Totals over all partners with which the member is actively enrolled. */
  membershipYearStats: MembershipYearStats;
  /** The standing with each partner with which the member is actively enrolled. */
  partnerStandings: Array<PartnerStanding>;
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
        | GraphQLRecursivePick<FederationTypes['MemberProfile'], {"activePartnerIds":true}> ) );
};



/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  PartnerMemberRead: ResolverTypeWrapper<PartnerMemberEntity>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  MemberProfile: ResolverTypeWrapper<ProfileEntity>;
  MembershipYearStats: ResolverTypeWrapper<MembershipYearStats>;
  PartnerStanding: ResolverTypeWrapper<PartnerStanding>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  PartnerMemberRead: PartnerMemberEntity;
  ID: Scalars['ID']['output'];
  String: Scalars['String']['output'];
  Int: Scalars['Int']['output'];
  MemberProfile: ProfileEntity;
  MembershipYearStats: MembershipYearStats;
  PartnerStanding: PartnerStanding;
  Boolean: Scalars['Boolean']['output'];
};

export type PartnerMemberReadResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['PartnerMemberRead'] = ResolversParentTypes['PartnerMemberRead'], FederationReferenceType extends FederationReferenceTypes['PartnerMemberRead'] = FederationReferenceTypes['PartnerMemberRead']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['PartnerMemberRead']> | FederationReferenceType, FederationReferenceType, ContextType>;
  memberId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  tier?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  points?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type MemberProfileResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['MemberProfile'] = ResolversParentTypes['MemberProfile'], FederationReferenceType extends FederationReferenceTypes['MemberProfile'] = FederationReferenceTypes['MemberProfile']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['MemberProfile']> | FederationReferenceType, FederationReferenceType, ContextType>;
  memberId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  membershipYearStats?: Resolver<ResolversTypes['MembershipYearStats'], ParentType, ContextType>;
  partnerStandings?: Resolver<Array<ResolversTypes['PartnerStanding']>, ParentType, ContextType>;
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
  PartnerMemberRead?: PartnerMemberReadResolvers<ContextType>;
  MemberProfile?: MemberProfileResolvers<ContextType>;
  MembershipYearStats?: MembershipYearStatsResolvers<ContextType>;
  PartnerStanding?: PartnerStandingResolvers<ContextType>;
};


/** All resolvers that the schema needs. */
export type SubgraphResolvers = CompleteResolvers<Resolvers, ResolversTypes>;
