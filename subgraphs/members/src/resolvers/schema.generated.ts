// Resolver types, generated from schema.graphql by `npm run generate`.
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { PartnerMember, Profile } from '../rules/member.ts';
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
  memberByEmail: Maybe<PartnerMemberRead>;
  memberByExternalId: Maybe<PartnerMemberRead>;
  memberById: Maybe<PartnerMemberRead>;
  memberLookups: Maybe<Array<MemberLookup>>;
  members: Maybe<MemberConnection>;
  node: Maybe<Node>;
  sandboxMails: Maybe<Array<SandboxMail>>;
  memberProfile: Maybe<MemberProfile>;
  signingKeys: Scalars['String']['output'];
  endedSessions: Array<EndedSessions>;
  endedSubjects: Array<EndedSubject>;
  appOrigins: Array<Scalars['String']['output']>;
  invitation: Maybe<Invitation>;
  everEnrolled: Array<Scalars['ID']['output']>;
  pendingEvents: Array<PendingEvent>;
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
  keys: Array<MemberKey>;
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


export type QueryMemberProfileArgs = {
  id: Scalars['ID']['input'];
};


export type QueryEndedSessionsArgs = {
  since: Scalars['Float']['input'];
};


export type QueryEndedSubjectsArgs = {
  since: Scalars['Float']['input'];
};


export type QueryInvitationArgs = {
  token: Scalars['String']['input'];
};


export type QueryEverEnrolledArgs = {
  partnerId: Scalars['ID']['input'];
  memberIds: Array<Scalars['ID']['input']>;
};


export type QueryPendingEventsArgs = {
  first: Scalars['Int']['input'];
};

export type SandboxMail = {
  id: Scalars['ID']['output'];
  to: Scalars['String']['output'];
  subject: Scalars['String']['output'];
  text: Scalars['String']['output'];
  html: Maybe<Scalars['String']['output']>;
  sentAt: Scalars['DateTime']['output'];
};

export type Mutation = {
  enrollMember: Maybe<EnrollMemberPayload>;
  inviteMember: Maybe<InviteMemberPayload>;
  endEnrollment: Maybe<EndEnrollmentPayload>;
  changeExternalId: Maybe<PartnerMemberRead>;
  updateMember: Maybe<PartnerMemberRead>;
  requestMagicLink: Maybe<RequestMagicLinkPayload>;
  exchangeMagicLink: Maybe<MagicLinkSession>;
  requestEmailChange: Maybe<RequestEmailChangePayload>;
  confirmEmailChange: Maybe<MemberProfile>;
  updateProfile: Maybe<MemberProfile>;
  identityRequest: Scalars['String']['output'];
  manageApps: Scalars['String']['output'];
  staffSignIn: Scalars['String']['output'];
  mailStaff: Scalars['Boolean']['output'];
  signIn: Maybe<MagicLinkSession>;
  confirmChange: Maybe<ConfirmedChange>;
  undoChange: Maybe<ConfirmedChange>;
  contestUndo: Maybe<Scalars['ID']['output']>;
  acceptInvitation: Maybe<Invitation>;
  acknowledgeEvents: Maybe<Scalars['Boolean']['output']>;
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


export type MutationRequestEmailChangeArgs = {
  email: Scalars['String']['input'];
};


export type MutationConfirmEmailChangeArgs = {
  token: Scalars['String']['input'];
};


export type MutationUpdateProfileArgs = {
  input: UpdateProfileInput;
};


export type MutationIdentityRequestArgs = {
  request: Scalars['String']['input'];
};


export type MutationManageAppsArgs = {
  request: Scalars['String']['input'];
};


export type MutationStaffSignInArgs = {
  request: Scalars['String']['input'];
};


export type MutationMailStaffArgs = {
  notice: Scalars['String']['input'];
};


export type MutationSignInArgs = {
  token: Scalars['String']['input'];
};


export type MutationConfirmChangeArgs = {
  token: Scalars['String']['input'];
  language?: InputMaybe<Scalars['String']['input']>;
  formId?: InputMaybe<Scalars['String']['input']>;
};


export type MutationUndoChangeArgs = {
  token: Scalars['String']['input'];
  language?: InputMaybe<Scalars['String']['input']>;
  formId?: InputMaybe<Scalars['String']['input']>;
};


export type MutationContestUndoArgs = {
  token: Scalars['String']['input'];
  formId?: InputMaybe<Scalars['String']['input']>;
};


export type MutationAcceptInvitationArgs = {
  token: Scalars['String']['input'];
  formId?: InputMaybe<Scalars['String']['input']>;
};


export type MutationAcknowledgeEventsArgs = {
  acks: Array<Scalars['String']['input']>;
};

export type Node = {
  id: Scalars['ID']['output'];
};

export type PartnerMemberRead = Node & {
  id: Scalars['ID']['output'];
  memberId: Scalars['ID']['output'];
  email: Scalars['String']['output'];
  firstName: Maybe<Scalars['String']['output']>;
  lastName: Maybe<Scalars['String']['output']>;
  externalId: Maybe<Scalars['String']['output']>;
  enrolledAt: Maybe<Scalars['DateTime']['output']>;
};

export type Event = {
  id: Scalars['ID']['output'];
  memberId: Maybe<Scalars['ID']['output']>;
  member: Maybe<PartnerMemberRead>;
};

export type MemberKey = {
  email?: InputMaybe<Scalars['String']['input']>;
  externalId?: InputMaybe<Scalars['String']['input']>;
  memberId?: InputMaybe<Scalars['ID']['input']>;
};

export type MemberLookup = {
  member: Maybe<PartnerMemberRead>;
  status: LookupStatus;
};

export type LookupStatus =
  | 'FOUND'
  | 'NOT_FOUND'
  | 'ENDED'
  | 'ERASED'
  | 'INVALID';

export type MemberConnection = {
  edges: Array<MemberEdge>;
  pageInfo: PageInfo;
};

export type MemberEdge = {
  memberId: Scalars['ID']['output'];
  node: Maybe<PartnerMemberRead>;
  cursor: Scalars['String']['output'];
  updatedAt: Scalars['DateTime']['output'];
  status: EnrollmentStatus;
};

export type EnrollmentStatus =
  | 'ACTIVE'
  | 'ENDED';

export type PageInfo = {
  hasNextPage: Scalars['Boolean']['output'];
  hasPreviousPage: Scalars['Boolean']['output'];
  startCursor: Maybe<Scalars['String']['output']>;
  endCursor: Maybe<Scalars['String']['output']>;
};

export type EnrollMemberInput = {
  email: Scalars['String']['input'];
  externalId?: InputMaybe<Scalars['String']['input']>;
  firstName?: InputMaybe<Scalars['String']['input']>;
  lastName?: InputMaybe<Scalars['String']['input']>;
};

export type UpdateMemberInput = {
  firstName?: InputMaybe<Scalars['String']['input']>;
  lastName?: InputMaybe<Scalars['String']['input']>;
};

export type UpdateProfileInput = {
  firstName?: InputMaybe<Scalars['String']['input']>;
  lastName?: InputMaybe<Scalars['String']['input']>;
};

export type EnrollMemberPayload = {
  member: PartnerMemberRead;
  created: Scalars['Boolean']['output'];
};

export type InviteMemberPayload = {
  accepted: Scalars['Boolean']['output'];
};

export type Invitation = {
  partnerName: Scalars['String']['output'];
  email: Scalars['String']['output'];
};

export type EndEnrollmentPayload = {
  memberId: Scalars['ID']['output'];
};

export type Standing = {
  partnerId: Scalars['ID']['output'];
  partnerName: Scalars['String']['output'];
};

export type MemberProfile = {
  memberId: Scalars['ID']['output'];
  email: Scalars['String']['output'];
  firstName: Maybe<Scalars['String']['output']>;
  lastName: Maybe<Scalars['String']['output']>;
  activePartnerIds: Array<Scalars['ID']['output']>;
};

export type RequestMagicLinkPayload = {
  accepted: Scalars['Boolean']['output'];
};

export type MagicLinkSession = {
  memberId: Scalars['ID']['output'];
  idToken: Scalars['String']['output'];
  expiresAt: Scalars['String']['output'];
};

export type RequestEmailChangePayload = {
  accepted: Scalars['Boolean']['output'];
};

export type EndedSessions = {
  memberId: Scalars['ID']['output'];
  endedAt: Scalars['Float']['output'];
};

export type EndedSubject = {
  subject: Scalars['ID']['output'];
  endedAt: Scalars['Float']['output'];
};

export type PendingEvent = {
  ack: Scalars['String']['output'];
  event: Scalars['String']['output'];
};

export type ConfirmedChange = {
  memberId: Scalars['ID']['output'];
  email: Scalars['String']['output'];
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
  Event: Event;
  Standing: Standing;
  MemberProfile: MemberProfile;
};

/** Mapping of federation reference types */
export type FederationReferenceTypes = {
  Event:
    ( { __typename: 'Event' }
    & GraphQLRecursivePick<FederationTypes['Event'], {"id":true,"memberId":true}> );
  Standing:
    ( { __typename: 'Standing' }
    & GraphQLRecursivePick<FederationTypes['Standing'], {"partnerId":true}> );
  MemberProfile:
    ( { __typename: 'MemberProfile' }
    & GraphQLRecursivePick<FederationTypes['MemberProfile'], {"memberId":true}> );
};


/** Mapping of interface types */
export type ResolversInterfaceTypes<_RefType extends Record<string, unknown>> = {
  Node: ( PartnerMember );
};

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  Query: ResolverTypeWrapper<undefined>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  Float: ResolverTypeWrapper<Scalars['Float']['output']>;
  SandboxMail: ResolverTypeWrapper<SandboxMail>;
  Mutation: ResolverTypeWrapper<undefined>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  Node: ResolverTypeWrapper<ResolversInterfaceTypes<ResolversTypes>['Node']>;
  PartnerMemberRead: ResolverTypeWrapper<PartnerMember>;
  Event: ResolverTypeWrapper<Omit<Event, 'member'> & { member?: Maybe<ResolversTypes['PartnerMemberRead']> }>;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  MemberKey: MemberKey;
  MemberLookup: ResolverTypeWrapper<Omit<MemberLookup, 'member'> & { member?: Maybe<ResolversTypes['PartnerMemberRead']> }>;
  LookupStatus: LookupStatus;
  MemberConnection: ResolverTypeWrapper<Omit<MemberConnection, 'edges'> & { edges: Array<ResolversTypes['MemberEdge']> }>;
  MemberEdge: ResolverTypeWrapper<Omit<MemberEdge, 'node'> & { node?: Maybe<ResolversTypes['PartnerMemberRead']> }>;
  EnrollmentStatus: EnrollmentStatus;
  PageInfo: ResolverTypeWrapper<PageInfo>;
  EnrollMemberInput: EnrollMemberInput;
  UpdateMemberInput: UpdateMemberInput;
  UpdateProfileInput: UpdateProfileInput;
  EnrollMemberPayload: ResolverTypeWrapper<Omit<EnrollMemberPayload, 'member'> & { member: ResolversTypes['PartnerMemberRead'] }>;
  InviteMemberPayload: ResolverTypeWrapper<InviteMemberPayload>;
  Invitation: ResolverTypeWrapper<Invitation>;
  EndEnrollmentPayload: ResolverTypeWrapper<EndEnrollmentPayload>;
  Standing: ResolverTypeWrapper<Standing>;
  MemberProfile: ResolverTypeWrapper<Profile>;
  RequestMagicLinkPayload: ResolverTypeWrapper<RequestMagicLinkPayload>;
  MagicLinkSession: ResolverTypeWrapper<MagicLinkSession>;
  RequestEmailChangePayload: ResolverTypeWrapper<RequestEmailChangePayload>;
  EndedSessions: ResolverTypeWrapper<EndedSessions>;
  EndedSubject: ResolverTypeWrapper<EndedSubject>;
  PendingEvent: ResolverTypeWrapper<PendingEvent>;
  ConfirmedChange: ResolverTypeWrapper<ConfirmedChange>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Query: undefined;
  String: Scalars['String']['output'];
  ID: Scalars['ID']['output'];
  Int: Scalars['Int']['output'];
  Float: Scalars['Float']['output'];
  SandboxMail: SandboxMail;
  Mutation: undefined;
  Boolean: Scalars['Boolean']['output'];
  Node: ResolversInterfaceTypes<ResolversParentTypes>['Node'];
  PartnerMemberRead: PartnerMember;
  Event: Omit<Event, 'member'> & { member?: Maybe<ResolversParentTypes['PartnerMemberRead']> } | FederationReferenceTypes['Event'];
  DateTime: Scalars['DateTime']['output'];
  MemberKey: MemberKey;
  MemberLookup: Omit<MemberLookup, 'member'> & { member?: Maybe<ResolversParentTypes['PartnerMemberRead']> };
  MemberConnection: Omit<MemberConnection, 'edges'> & { edges: Array<ResolversParentTypes['MemberEdge']> };
  MemberEdge: Omit<MemberEdge, 'node'> & { node?: Maybe<ResolversParentTypes['PartnerMemberRead']> };
  PageInfo: PageInfo;
  EnrollMemberInput: EnrollMemberInput;
  UpdateMemberInput: UpdateMemberInput;
  UpdateProfileInput: UpdateProfileInput;
  EnrollMemberPayload: Omit<EnrollMemberPayload, 'member'> & { member: ResolversParentTypes['PartnerMemberRead'] };
  InviteMemberPayload: InviteMemberPayload;
  Invitation: Invitation;
  EndEnrollmentPayload: EndEnrollmentPayload;
  Standing: Standing | FederationReferenceTypes['Standing'];
  MemberProfile: Profile;
  RequestMagicLinkPayload: RequestMagicLinkPayload;
  MagicLinkSession: MagicLinkSession;
  RequestEmailChangePayload: RequestEmailChangePayload;
  EndedSessions: EndedSessions;
  EndedSubject: EndedSubject;
  PendingEvent: PendingEvent;
  ConfirmedChange: ConfirmedChange;
};

export type QueryResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  memberByEmail?: Resolver<Maybe<ResolversTypes['PartnerMemberRead']>, ParentType, ContextType, RequireFields<QueryMemberByEmailArgs, 'email'>>;
  memberByExternalId?: Resolver<Maybe<ResolversTypes['PartnerMemberRead']>, ParentType, ContextType, RequireFields<QueryMemberByExternalIdArgs, 'externalId'>>;
  memberById?: Resolver<Maybe<ResolversTypes['PartnerMemberRead']>, ParentType, ContextType, RequireFields<QueryMemberByIdArgs, 'memberId'>>;
  memberLookups?: Resolver<Maybe<Array<ResolversTypes['MemberLookup']>>, ParentType, ContextType, RequireFields<QueryMemberLookupsArgs, 'keys'>>;
  members?: Resolver<Maybe<ResolversTypes['MemberConnection']>, ParentType, ContextType, RequireFields<QueryMembersArgs, 'first' | 'status'>>;
  node?: Resolver<Maybe<ResolversTypes['Node']>, ParentType, ContextType, RequireFields<QueryNodeArgs, 'id'>>;
  sandboxMails?: Resolver<Maybe<Array<ResolversTypes['SandboxMail']>>, ParentType, ContextType, RequireFields<QuerySandboxMailsArgs, 'email'>>;
  memberProfile?: Resolver<Maybe<ResolversTypes['MemberProfile']>, ParentType, ContextType, RequireFields<QueryMemberProfileArgs, 'id'>>;
  signingKeys?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  endedSessions?: Resolver<Array<ResolversTypes['EndedSessions']>, ParentType, ContextType, RequireFields<QueryEndedSessionsArgs, 'since'>>;
  endedSubjects?: Resolver<Array<ResolversTypes['EndedSubject']>, ParentType, ContextType, RequireFields<QueryEndedSubjectsArgs, 'since'>>;
  appOrigins?: Resolver<Array<ResolversTypes['String']>, ParentType, ContextType>;
  invitation?: Resolver<Maybe<ResolversTypes['Invitation']>, ParentType, ContextType, RequireFields<QueryInvitationArgs, 'token'>>;
  everEnrolled?: Resolver<Array<ResolversTypes['ID']>, ParentType, ContextType, RequireFields<QueryEverEnrolledArgs, 'partnerId' | 'memberIds'>>;
  pendingEvents?: Resolver<Array<ResolversTypes['PendingEvent']>, ParentType, ContextType, RequireFields<QueryPendingEventsArgs, 'first'>>;
};

export type SandboxMailResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['SandboxMail'] = ResolversParentTypes['SandboxMail']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  to?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  subject?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  text?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  html?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  sentAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type MutationResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  enrollMember?: Resolver<Maybe<ResolversTypes['EnrollMemberPayload']>, ParentType, ContextType, RequireFields<MutationEnrollMemberArgs, 'input'>>;
  inviteMember?: Resolver<Maybe<ResolversTypes['InviteMemberPayload']>, ParentType, ContextType, RequireFields<MutationInviteMemberArgs, 'input'>>;
  endEnrollment?: Resolver<Maybe<ResolversTypes['EndEnrollmentPayload']>, ParentType, ContextType, RequireFields<MutationEndEnrollmentArgs, 'memberId'>>;
  changeExternalId?: Resolver<Maybe<ResolversTypes['PartnerMemberRead']>, ParentType, ContextType, RequireFields<MutationChangeExternalIdArgs, 'memberId'>>;
  updateMember?: Resolver<Maybe<ResolversTypes['PartnerMemberRead']>, ParentType, ContextType, RequireFields<MutationUpdateMemberArgs, 'memberId' | 'input'>>;
  requestMagicLink?: Resolver<Maybe<ResolversTypes['RequestMagicLinkPayload']>, ParentType, ContextType, RequireFields<MutationRequestMagicLinkArgs, 'email'>>;
  exchangeMagicLink?: Resolver<Maybe<ResolversTypes['MagicLinkSession']>, ParentType, ContextType, RequireFields<MutationExchangeMagicLinkArgs, 'token'>>;
  requestEmailChange?: Resolver<Maybe<ResolversTypes['RequestEmailChangePayload']>, ParentType, ContextType, RequireFields<MutationRequestEmailChangeArgs, 'email'>>;
  confirmEmailChange?: Resolver<Maybe<ResolversTypes['MemberProfile']>, ParentType, ContextType, RequireFields<MutationConfirmEmailChangeArgs, 'token'>>;
  updateProfile?: Resolver<Maybe<ResolversTypes['MemberProfile']>, ParentType, ContextType, RequireFields<MutationUpdateProfileArgs, 'input'>>;
  identityRequest?: Resolver<ResolversTypes['String'], ParentType, ContextType, RequireFields<MutationIdentityRequestArgs, 'request'>>;
  manageApps?: Resolver<ResolversTypes['String'], ParentType, ContextType, RequireFields<MutationManageAppsArgs, 'request'>>;
  staffSignIn?: Resolver<ResolversTypes['String'], ParentType, ContextType, RequireFields<MutationStaffSignInArgs, 'request'>>;
  mailStaff?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationMailStaffArgs, 'notice'>>;
  signIn?: Resolver<Maybe<ResolversTypes['MagicLinkSession']>, ParentType, ContextType, RequireFields<MutationSignInArgs, 'token'>>;
  confirmChange?: Resolver<Maybe<ResolversTypes['ConfirmedChange']>, ParentType, ContextType, RequireFields<MutationConfirmChangeArgs, 'token'>>;
  undoChange?: Resolver<Maybe<ResolversTypes['ConfirmedChange']>, ParentType, ContextType, RequireFields<MutationUndoChangeArgs, 'token'>>;
  contestUndo?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType, RequireFields<MutationContestUndoArgs, 'token'>>;
  acceptInvitation?: Resolver<Maybe<ResolversTypes['Invitation']>, ParentType, ContextType, RequireFields<MutationAcceptInvitationArgs, 'token'>>;
  acknowledgeEvents?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType, RequireFields<MutationAcknowledgeEventsArgs, 'acks'>>;
};

export type NodeResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Node'] = ResolversParentTypes['Node']> = {
  __resolveType: TypeResolveFn<'PartnerMemberRead', ParentType, ContextType>;
};

export type PartnerMemberReadResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['PartnerMemberRead'] = ResolversParentTypes['PartnerMemberRead']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  memberId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  email?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  firstName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  lastName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  externalId?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  enrolledAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type EventResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Event'] = ResolversParentTypes['Event'], FederationReferenceType extends FederationReferenceTypes['Event'] = FederationReferenceTypes['Event']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['Event']> | FederationReferenceType, FederationReferenceType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  memberId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  member?: Resolver<Maybe<ResolversTypes['PartnerMemberRead']>, ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type MemberLookupResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['MemberLookup'] = ResolversParentTypes['MemberLookup']> = {
  member?: Resolver<Maybe<ResolversTypes['PartnerMemberRead']>, ParentType, ContextType>;
  status?: Resolver<ResolversTypes['LookupStatus'], ParentType, ContextType>;
};

export type MemberConnectionResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['MemberConnection'] = ResolversParentTypes['MemberConnection']> = {
  edges?: Resolver<Array<ResolversTypes['MemberEdge']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type MemberEdgeResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['MemberEdge'] = ResolversParentTypes['MemberEdge']> = {
  memberId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  node?: Resolver<Maybe<ResolversTypes['PartnerMemberRead']>, ParentType, ContextType>;
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  updatedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  status?: Resolver<ResolversTypes['EnrollmentStatus'], ParentType, ContextType>;
};

export type PageInfoResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['PageInfo'] = ResolversParentTypes['PageInfo']> = {
  hasNextPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  hasPreviousPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  startCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  endCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type EnrollMemberPayloadResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['EnrollMemberPayload'] = ResolversParentTypes['EnrollMemberPayload']> = {
  member?: Resolver<ResolversTypes['PartnerMemberRead'], ParentType, ContextType>;
  created?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type InviteMemberPayloadResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['InviteMemberPayload'] = ResolversParentTypes['InviteMemberPayload']> = {
  accepted?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type InvitationResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Invitation'] = ResolversParentTypes['Invitation']> = {
  partnerName?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  email?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type EndEnrollmentPayloadResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['EndEnrollmentPayload'] = ResolversParentTypes['EndEnrollmentPayload']> = {
  memberId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
};

export type StandingResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Standing'] = ResolversParentTypes['Standing'], FederationReferenceType extends FederationReferenceTypes['Standing'] = FederationReferenceTypes['Standing']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['Standing']> | FederationReferenceType, FederationReferenceType, ContextType>;
  partnerId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  partnerName?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type MemberProfileResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['MemberProfile'] = ResolversParentTypes['MemberProfile'], FederationReferenceType extends FederationReferenceTypes['MemberProfile'] = FederationReferenceTypes['MemberProfile']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['MemberProfile']> | FederationReferenceType, FederationReferenceType, ContextType>;
  memberId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  email?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  firstName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  lastName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  activePartnerIds?: Resolver<Array<ResolversTypes['ID']>, ParentType, ContextType>;
};

export type RequestMagicLinkPayloadResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['RequestMagicLinkPayload'] = ResolversParentTypes['RequestMagicLinkPayload']> = {
  accepted?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type MagicLinkSessionResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['MagicLinkSession'] = ResolversParentTypes['MagicLinkSession']> = {
  memberId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  idToken?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  expiresAt?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type RequestEmailChangePayloadResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['RequestEmailChangePayload'] = ResolversParentTypes['RequestEmailChangePayload']> = {
  accepted?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type EndedSessionsResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['EndedSessions'] = ResolversParentTypes['EndedSessions']> = {
  memberId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  endedAt?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type EndedSubjectResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['EndedSubject'] = ResolversParentTypes['EndedSubject']> = {
  subject?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  endedAt?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type PendingEventResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['PendingEvent'] = ResolversParentTypes['PendingEvent']> = {
  ack?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  event?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type ConfirmedChangeResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['ConfirmedChange'] = ResolversParentTypes['ConfirmedChange']> = {
  memberId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  email?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type Resolvers<ContextType = SubgraphContext> = {
  Query?: QueryResolvers<ContextType>;
  SandboxMail?: SandboxMailResolvers<ContextType>;
  Mutation?: MutationResolvers<ContextType>;
  Node?: NodeResolvers<ContextType>;
  PartnerMemberRead?: PartnerMemberReadResolvers<ContextType>;
  Event?: EventResolvers<ContextType>;
  DateTime?: GraphQLScalarType;
  MemberLookup?: MemberLookupResolvers<ContextType>;
  MemberConnection?: MemberConnectionResolvers<ContextType>;
  MemberEdge?: MemberEdgeResolvers<ContextType>;
  PageInfo?: PageInfoResolvers<ContextType>;
  EnrollMemberPayload?: EnrollMemberPayloadResolvers<ContextType>;
  InviteMemberPayload?: InviteMemberPayloadResolvers<ContextType>;
  Invitation?: InvitationResolvers<ContextType>;
  EndEnrollmentPayload?: EndEnrollmentPayloadResolvers<ContextType>;
  Standing?: StandingResolvers<ContextType>;
  MemberProfile?: MemberProfileResolvers<ContextType>;
  RequestMagicLinkPayload?: RequestMagicLinkPayloadResolvers<ContextType>;
  MagicLinkSession?: MagicLinkSessionResolvers<ContextType>;
  RequestEmailChangePayload?: RequestEmailChangePayloadResolvers<ContextType>;
  EndedSessions?: EndedSessionsResolvers<ContextType>;
  EndedSubject?: EndedSubjectResolvers<ContextType>;
  PendingEvent?: PendingEventResolvers<ContextType>;
  ConfirmedChange?: ConfirmedChangeResolvers<ContextType>;
};


/** All resolvers that the schema needs. */
export type SubgraphResolvers = CompleteResolvers<Resolvers, ResolversTypes>;
