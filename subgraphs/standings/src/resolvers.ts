// Resolvers: each checks the caller, then reads the program, then the standing.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { allMaybe, type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { DATE_TIME } from '@partner-loyalty/runtime/subgraph/resolvers.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import { createPages } from './activities.ts';
import type { CurrentStanding, PartnerMemberEntity, ProfileEntity } from './entities.ts';
import type { MembersClient } from './members.ts';
import { createRecorder } from './recording.ts';
import { parseActivities } from './rules/activityinput.ts';
import { clampInt, NO_ACTIVITY } from './rules/standing.ts';
import { nextTier, tierOf } from './rules/tiers.ts';
import { yearBounds, yearOf } from './rules/year.ts';
import type { SubgraphResolvers } from './schema.generated.ts';
import type { StandingsStore } from './store/store.ts';

/** Resolvers on a store. `now` returns the current time. Reads are synchronous as the store is. */
export function createResolvers(
  store: Pick<StandingsStore, 'program' | 'standing' | 'latestActivities' | 'record'>,
  members: MembersClient,
  now: () => Date,
): SubgraphResolvers {
  const { standingOf, standingsOf } = createReader(store, now);
  const pageOf = createPages(store);
  const record = createRecorder(store, members, now);
  return {
    Mutation: {
      recordActivities(_, { activities }, { caller, requestId }) {
        const partnerId = callingPartner(caller);
        return record(partnerId, parseActivities('activities', partnerId, activities), requestId);
      },
    },
    PartnerMemberRead: {
      __resolveReference: ({ __typename, memberId }) => ({ __typename, memberId }),
      tier: (entity, _, { caller }) =>
        mapMaybe(standingOf(entity, caller), ({ program, points }) => tierOf(program, points)),
      points: (entity, _, { caller }) =>
        mapMaybe(standingOf(entity, caller), ({ points }) => points),
      standing: (entity, _, { caller }) => standingOf(entity, caller),
      activities: ({ memberId }, page, context) =>
        pageOf(memberId, [callingPartner(context.caller)], page, context),
    },
    MemberProfile: {
      __resolveReference: ({ __typename, memberId, activePartnerIds }) => ({
        __typename,
        memberId,
        activePartnerIds,
      }),
      membershipYearStats: (profile, _, { caller }) =>
        mapMaybe(standingsOf(profile, caller), (standings) => ({
          akinPoints: clampInt(standings.reduce((sum, { points }) => sum + points, 0)),
          totalStays: clampInt(standings.reduce((sum, { stays }) => sum + stays, 0)),
        })),
      partnerStandings: (profile, _, { caller }) =>
        mapMaybe(standingsOf(profile, caller), (standings) =>
          standings.map(({ partnerId, program, points }) => ({
            partnerId,
            tier: tierOf(program, points),
            points,
          })),
        ),
      standings: (profile, _, { caller }) => standingsOf(profile, caller),
      activities: (profile, page, context) =>
        pageOf(profile.memberId, visiblePartners(profile, context.caller), page, context),
    },
    Standing: {
      tier: ({ program, points }) => tierOf(program, points),
      nextTier: ({ program, points }) => nextTier(program, points)?.name,
      pointsToNextTier: ({ program, points }) => nextTier(program, points)?.missing,
      yearStart: ({ program, asOf }) => yearBounds(program, asOf).start,
      yearEnd: ({ program, asOf }) => yearBounds(program, asOf).end,
    },
    DateTime: DATE_TIME,
  };
}

/** Reads the standings of an entity that the caller may see, once for all of its fields. */
function createReader(store: Pick<StandingsStore, 'program' | 'standing'>, now: () => Date) {
  const currentStanding = (partnerId: string, memberId: string): MaybePromise<CurrentStanding> =>
    mapMaybe(store.program(partnerId), (program) => {
      const asOf = now();
      return mapMaybe(
        store.standing(partnerId, memberId, yearOf(program, asOf)),
        (standing = NO_ACTIVITY) => ({ partnerId, program, asOf, ...standing }),
      );
    });

  return {
    standingOf(entity: PartnerMemberEntity, caller: Caller): MaybePromise<CurrentStanding> {
      entity.standing ??= currentStanding(callingPartner(caller), entity.memberId);
      return entity.standing;
    },
    standingsOf(profile: ProfileEntity, caller: Caller): MaybePromise<CurrentStanding[]> {
      profile.standings ??= allMaybe(
        visiblePartners(profile, caller).map((partnerId) =>
          currentStanding(partnerId, profile.memberId),
        ),
      );
      return profile.standings;
    },
  };
}

// The surfaces admit no other caller; these two checks hold even if a surface is cut wrong.
function callingPartner(caller: Caller): string {
  return caller.kind === 'partner' ? caller.partnerId : fail('INTERNAL_SERVER_ERROR');
}

/** The partners that the member's token may show: all, or only the partner that holds the token. */
function visiblePartners({ memberId, activePartnerIds }: ProfileEntity, caller: Caller): string[] {
  if (caller.kind !== 'member' || caller.memberId !== memberId)
    return fail('INTERNAL_SERVER_ERROR');
  return caller.partnerId === undefined
    ? activePartnerIds
    : activePartnerIds.filter((partnerId) => partnerId === caller.partnerId);
}
