// Resolvers: each reads the caller from the scope, then the program, then the standing.
import {
  fail,
  type MaybePromise,
  mapMaybe,
  type Scope,
  type SubgraphContext,
} from '@partner-loyalty/runtime';
import { clampInt } from './rules/int.ts';
import type { Program } from './rules/program.ts';
import { NO_ACTIVITY, type Standing } from './rules/standing.ts';
import { tierOf } from './rules/tiers.ts';
import { yearOf } from './rules/year.ts';
import type { StandingsStore } from './store/store.ts';

/** A member's standing with one partner in the current membership year. */
type CurrentStanding = Standing & { partnerId: string; program: Program | undefined };

/** An entity, with the standing that its fields share once the first of them has read it. */
type PartnerMemberRead = {
  __typename: 'PartnerMemberRead';
  memberId: string;
  standing?: MaybePromise<CurrentStanding>;
};
type MemberProfile = {
  __typename: 'MemberProfile';
  memberId: string;
  activePartnerIds: string[];
  standings?: MaybePromise<CurrentStanding[]>;
};

/** Resolvers on a store. `now` returns the current time. They are synchronous if the store is. */
export function createResolvers(
  store: Pick<StandingsStore, 'program' | 'standing'>,
  now: () => Date,
) {
  const { standingOf, standingsOf } = createReader(store, now);
  return {
    PartnerMemberRead: {
      __resolveReference: ({ __typename, memberId }: PartnerMemberRead): PartnerMemberRead => ({
        __typename,
        memberId,
      }),
      tier: (read: PartnerMemberRead, _: unknown, { scope }: SubgraphContext) =>
        mapMaybe(standingOf(read, scope), ({ program, points }) => tierOf(program, points)),
      points: (read: PartnerMemberRead, _: unknown, { scope }: SubgraphContext) =>
        mapMaybe(standingOf(read, scope), ({ points }) => points),
    },
    MemberProfile: {
      __resolveReference: ({
        __typename,
        memberId,
        activePartnerIds,
      }: MemberProfile): MemberProfile => ({ __typename, memberId, activePartnerIds }),
      membershipYearStats: (profile: MemberProfile, _: unknown, { scope }: SubgraphContext) =>
        mapMaybe(standingsOf(profile, scope), (standings) => ({
          akinPoints: clampInt(standings.reduce((sum, { points }) => sum + points, 0)),
          totalStays: clampInt(standings.reduce((sum, { stays }) => sum + stays, 0)),
        })),
      partnerStandings: (profile: MemberProfile, _: unknown, { scope }: SubgraphContext) =>
        mapMaybe(standingsOf(profile, scope), (standings) =>
          standings.map(({ partnerId, program, points }) => ({
            partnerId,
            tier: tierOf(program, points),
            points,
          })),
        ),
    },
  };
}

/** Reads the standings of an entity within the caller's scope, once for all of its fields. */
function createReader(store: Pick<StandingsStore, 'program' | 'standing'>, now: () => Date) {
  const currentStanding = (partnerId: string, memberId: string): MaybePromise<CurrentStanding> =>
    mapMaybe(store.program(partnerId), (program) =>
      mapMaybe(
        store.standing(partnerId, memberId, yearOf(program, now())),
        (standing = NO_ACTIVITY) => ({ partnerId, program, ...standing }),
      ),
    );

  return {
    standingOf(read: PartnerMemberRead, scope: Scope): MaybePromise<CurrentStanding> {
      read.standing ??= currentStanding(callingPartner(scope), read.memberId);
      return read.standing;
    },
    standingsOf(profile: MemberProfile, scope: Scope): MaybePromise<CurrentStanding[]> {
      profile.standings ??= allMaybe(
        visiblePartners(profile, scope).map((partnerId) =>
          currentStanding(partnerId, profile.memberId),
        ),
      );
      return profile.standings;
    },
  };
}

// The surfaces admit no other scope; these two checks hold even if a surface is cut wrong.
function callingPartner(scope: Scope): string {
  return scope.kind === 'partner' ? scope.partnerId : fail('INTERNAL_SERVER_ERROR');
}

/** The partners that the member's token may show: all, or only the partner that holds the token. */
function visiblePartners({ memberId, activePartnerIds }: MemberProfile, scope: Scope): string[] {
  if (scope.kind !== 'member' || scope.memberId !== memberId) return fail('INTERNAL_SERVER_ERROR');
  return scope.partnerId === undefined
    ? activePartnerIds
    : activePartnerIds.filter((partnerId) => partnerId === scope.partnerId);
}

function allMaybe<T>(values: MaybePromise<T>[]): MaybePromise<T[]> {
  // Cast: none of them is a promise.
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as T[]);
}
