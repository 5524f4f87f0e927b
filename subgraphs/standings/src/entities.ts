// The entities of the standings subgraph: references that keep the standings read for them.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { Program } from './rules/program.ts';
import type { Standing } from './rules/standing.ts';
import type { HeldTier } from './rules/tiers.ts';

/** A member's standing with one partner. Each year is read when it is first needed. */
export type CurrentStanding = {
  partnerId: string;
  program: Program | undefined;
  /** When it was read. */
  asOf: Date;
  /** The sums of the current membership year. */
  sums(): MaybePromise<Standing>;
  /** The sums of the year before; undefined without activity in it. */
  sumsBefore(): MaybePromise<Standing | undefined>;
  tier(): MaybePromise<HeldTier>;
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
