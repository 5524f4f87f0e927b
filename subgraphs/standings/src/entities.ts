// The entities of the graph as the standings subgraph resolves them: the reference from the gateway, and what has been read for it.
import type { MaybePromise } from '@partner-loyalty/runtime';
import type { Program } from './store/store.ts';

/** A member's standing with one partner, now. */
export type Current = {
  partnerId: string;
  program: Program | undefined;
  points: number;
  stays: number;
};

export type PartnerMemberEntity = {
  __typename: 'PartnerMemberRead';
  memberId: string;
  current?: MaybePromise<Current>;
};

export type ProfileEntity = {
  __typename: 'MemberProfile';
  memberId: string;
  activePartnerIds: string[];
  currents?: MaybePromise<Current[]>;
};
