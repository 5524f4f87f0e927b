// Resolvers: whose behalf the request is on, the program and its current year, the store, in this order. They read what is asked for, once.
import {
  fail,
  type MaybePromise,
  mapMaybe,
  type Scope,
  type SubgraphContext,
} from '@partner-loyalty/runtime';
import type { Current, PartnerMemberEntity, ProfileEntity } from './entities.ts';
import { clampInt } from './int.ts';
import type { SubgraphResolvers } from './schema.generated.ts';
import type { Standing, StandingsStore } from './store/store.ts';
import { tierOf } from './tiers.ts';
import { yearOf } from './year.ts';

/** `now` tells the time. The answers are synchronous where the store's are. */
export function createResolvers(
  store: Pick<StandingsStore, 'program' | 'standing'>,
  now: () => Date,
): SubgraphResolvers {
  const currentOf = (partnerId: string, memberId: string): MaybePromise<Current> =>
    mapMaybe(store.program(partnerId), (program) =>
      mapMaybe(
        store.standing(partnerId, memberId, yearOf(program, now())),
        (standing = NOTHING) => ({ partnerId, program, ...standing }),
      ),
    );

  const readOf = (read: PartnerMemberEntity, { scope }: SubgraphContext): MaybePromise<Current> => {
    read.current ??= currentOf(partnerOf(scope), read.memberId);
    return read.current;
  };

  const profileOf = (
    profile: ProfileEntity,
    { scope }: SubgraphContext,
  ): MaybePromise<Current[]> => {
    profile.currents ??= allKnown(
      shownPartners(profile, scope).map((partnerId) => currentOf(partnerId, profile.memberId)),
    );
    return profile.currents;
  };

  return {
    PartnerMemberRead: {
      __resolveReference: ({ __typename, memberId }) => ({ __typename, memberId }),
      tier: (read, _, context) =>
        mapMaybe(readOf(read, context), ({ program, points }) => tierOf(program, points)),
      points: (read, _, context) => mapMaybe(readOf(read, context), ({ points }) => points),
    },
    MemberProfile: {
      __resolveReference: ({ __typename, memberId, activePartnerIds }) => ({
        __typename,
        memberId,
        activePartnerIds,
      }),
      membershipYearStats: (profile, _, context) =>
        mapMaybe(profileOf(profile, context), (currents) => ({
          akinPoints: clampInt(currents.reduce((sum, { points }) => sum + points, 0)),
          totalStays: clampInt(currents.reduce((sum, { stays }) => sum + stays, 0)),
        })),
      partnerStandings: (profile, _, context) =>
        mapMaybe(profileOf(profile, context), (currents) =>
          currents.map(({ partnerId, program, points }) => ({
            partnerId,
            tier: tierOf(program, points),
            points,
          })),
        ),
    },
  };
}

const NOTHING: Standing = { points: 0, stays: 0 };

// The surfaces let no other scope come this far; these two hold where one of them is cut wrong.
function partnerOf(scope: Scope): string {
  return scope.kind === 'partner' ? scope.partnerId : fail('INTERNAL_SERVER_ERROR');
}

/** The partners of the profile that its token shows: all, or the one that holds the token. */
function shownPartners({ memberId, activePartnerIds }: ProfileEntity, scope: Scope): string[] {
  if (scope.kind !== 'member' || scope.memberId !== memberId) return fail('INTERNAL_SERVER_ERROR');
  return scope.partnerId === undefined
    ? activePartnerIds
    : activePartnerIds.filter((partnerId) => partnerId === scope.partnerId);
}

function allKnown<T>(values: MaybePromise<T>[]): MaybePromise<T[]> {
  // Cast: there is no promise among them.
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as T[]);
}
