// The entities of the standings subgraph: references that keep the standings read for them.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { Program } from './rules/program.ts';
import type { Standing } from './rules/standing.ts';

/** A member's standing with one partner in the current membership year. */
export type CurrentStanding = Standing & {
  partnerId: string;
  program: Program | undefined;
  /** When it was read. */
  asOf: Date;
};

export type PartnerMemberEntity = {
  __typename: 'PartnerMemberRead';
  memberId: string;
  standing?: MaybePromise<CurrentStanding>;
};

export type ProfileEntity = {
  __typename: 'MemberProfile';
  memberId: string;
  activePartnerIds: string[];
  standings?: MaybePromise<CurrentStanding[]>;
};
