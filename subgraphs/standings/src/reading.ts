// Reads standings: of the current membership year and, if something needs it, of the one before.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { allMaybe, type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { SubgraphContext } from '@partner-loyalty/runtime/subgraph/types.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import type { CurrentStanding, PartnerMemberEntity, ProfileEntity } from './entities.ts';
import { NO_ACTIVITY, type Standing } from './rules/standing.ts';
import { heldTier } from './rules/tiers.ts';
import { yearOf, yearStart } from './rules/year.ts';
import type { StandingsStore } from './store/store.ts';

/** What a member gained with a partner after `since` and before `until`. */
export type GainedLater = (
  range: { partnerId: string; memberId: string; since: Date; until: Date },
  context: SubgraphContext,
) => Promise<Standing>;

/**
 * Reads the standings of an entity that the caller may see, once for all of its fields. Without
 * `gainedLater`, requests choose no time.
 */
export function createReader(
  store: Pick<StandingsStore, 'program' | 'standing'>,
  now: () => Date,
  gainedLater?: GainedLater,
) {
  const currentStanding = (
    partnerId: string,
    memberId: string,
    context: SubgraphContext,
  ): MaybePromise<CurrentStanding> =>
    mapMaybe(store.program(partnerId), (program) => {
      const { sandboxNow } = context;
      const isChosen = gainedLater !== undefined && sandboxNow !== undefined;
      const asOf = isChosen ? new Date(sandboxNow) : now();
      const sumsOf = (yearsLater: number) =>
        store.standing(partnerId, memberId, yearOf(program, asOf, yearsLater));
      const sumsNow = () => mapMaybe(sumsOf(0), (found = NO_ACTIVITY) => found);
      async function sumsThen(gained: GainedLater): Promise<Standing> {
        const range = { partnerId, memberId, since: asOf, until: yearStart(program, asOf, 1) };
        const later = await gained(range, context);
        const { points, stays } = await sumsNow();
        return { points: points - later.points, stays: stays - later.stays };
      }
      // The fields of one operation ask in the same tick, so the store reads both years at once.
      const sums = once(() => (isChosen ? sumsThen(gainedLater) : sumsNow()));
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
    standingOf(
      entity: PartnerMemberEntity,
      context: SubgraphContext,
    ): MaybePromise<CurrentStanding> {
      entity.standing ??= currentStanding(callingPartner(context.caller), entity.memberId, context);
      return entity.standing;
    },
    standingsOf(profile: ProfileEntity, context: SubgraphContext): MaybePromise<CurrentStanding[]> {
      profile.standings ??= allMaybe(
        visiblePartners(profile, context.caller).map((partnerId) =>
          currentStanding(partnerId, profile.memberId, context),
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
