// Reads standings: of the current membership year and, if something needs it, of the one before.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { allMaybe, type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import type { CurrentStanding, PartnerMemberEntity, ProfileEntity } from './entities.ts';
import { NO_ACTIVITY } from './rules/standing.ts';
import { heldTier } from './rules/tiers.ts';
import { yearOf } from './rules/year.ts';
import type { StandingsStore } from './store/store.ts';

/** Reads the standings of an entity that the caller may see, once for all of its fields. */
export function createReader(store: Pick<StandingsStore, 'program' | 'standing'>, now: () => Date) {
  const currentStanding = (partnerId: string, memberId: string): MaybePromise<CurrentStanding> =>
    mapMaybe(store.program(partnerId), (program) => {
      const asOf = now();
      const sumsOf = (yearsLater: number) =>
        store.standing(partnerId, memberId, yearOf(program, asOf, yearsLater));
      // The fields of one operation ask in the same tick, so the store reads both years at once.
      const sums = once(() => mapMaybe(sumsOf(0), (found = NO_ACTIVITY) => found));
      const sumsBefore = once(() => sumsOf(-1));
      const tier = once(() =>
        program?.tierValidity === 'nextYear'
          ? mapMaybe(allMaybe([sums(), sumsBefore()]), ([{ points } = NO_ACTIVITY, before]) =>
              heldTier(program, points, before?.points),
            )
          : mapMaybe(sums(), ({ points }) => heldTier(program, points, undefined)),
      );
      return { partnerId, program, asOf, sums, sumsBefore, tier };
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
export function callingPartner(caller: Caller): string {
  return caller.kind === 'partner' ? caller.partnerId : fail('INTERNAL_SERVER_ERROR');
}

/** The partners that the member's token may show: all, or only the partner that holds the token. */
export function visiblePartners(
  { memberId, activePartnerIds }: ProfileEntity,
  caller: Caller,
): string[] {
  if (caller.kind !== 'member' || caller.memberId !== memberId)
    return fail('INTERNAL_SERVER_ERROR');
  return caller.partnerId === undefined
    ? activePartnerIds
    : activePartnerIds.filter((partnerId) => partnerId === caller.partnerId);
}

/** A function that calls another at its first call, and returns that result from then on. */
function once<T>(read: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: read() };
    return made.value;
  };
}
