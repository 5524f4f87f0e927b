// Resolvers: each checks the caller, then reads the program, then the standing.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { allMaybe, type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { DATE_TIME } from '@partner-loyalty/runtime/subgraph/resolvers.ts';
import { createPages } from './activities.ts';
import type { CurrentStanding } from './entities.ts';
import { createEventPages } from './events/connection.ts';
import type { MembersClient } from './members.ts';
import type { Webhooks } from './ports.ts';
import { callingPartner, createReader, visiblePartners } from './reading.ts';
import { createRecorder } from './recording.ts';
import { parseActivities } from './rules/activityinput.ts';
import { DEFAULT_PROGRAM } from './rules/program.ts';
import { clampInt, type Standing } from './rules/standing.ts';
import { tierOf } from './rules/tiers.ts';
import { yearStart } from './rules/year.ts';
import { createGainedLater } from './sandbox.ts';
import type { SubgraphResolvers } from './schema.generated.ts';
import type { StandingsStore } from './store/store.ts';

type ResolverOptions = {
  now: () => Date;
  isSandbox: boolean;
  webhooks: Webhooks | undefined;
};

/**
 * Resolvers on a store. `now` returns the current time; in a sandbox, requests may choose another
 * one. Reads are synchronous as the store is.
 */
export function createResolvers(
  store: StandingsStore,
  members: MembersClient,
  { now, isSandbox, webhooks }: ResolverOptions,
): SubgraphResolvers {
  const gainedLater = isSandbox ? createGainedLater(store) : undefined;
  const { standingOf, standingsOf } = createReader(store, now, gainedLater);
  const pageOf = createPages(store);
  const eventsOf = createEventPages(store.feed);
  const record = createRecorder(store, members, now);
  return {
    Query: {
      program: (_, __, { caller }) =>
        mapMaybe(store.program(callingPartner(caller)), (program = DEFAULT_PROGRAM) => program),
      events: (_, page, { caller }) => eventsOf(callingPartner(caller), page),
      async disabledWebhooks(_, { since }, { caller }) {
        if (caller.kind !== 'service') return fail('INTERNAL_SERVER_ERROR');
        return JSON.stringify((await webhooks?.disabledSince(since)) ?? []);
      },
      async failingWebhooks(_, { before }, { caller }) {
        if (caller.kind !== 'service') return fail('INTERNAL_SERVER_ERROR');
        return JSON.stringify((await webhooks?.failingBefore(before)) ?? []);
      },
    },
    Mutation: {
      recordActivities(_, { activities }, { caller, requestId }) {
        const partnerId = callingPartner(caller);
        return record(partnerId, parseActivities('activities', partnerId, activities), requestId);
      },
      async manageWebhooks(_, { request, isLocal }, { caller }) {
        if (caller.kind !== 'service' || webhooks === undefined)
          return fail('INTERNAL_SERVER_ERROR');
        return JSON.stringify(await webhooks.manage(JSON.parse(request), { byStaff: { isLocal } }));
      },
    },
    PartnerMemberRead: {
      __resolveReference: ({ __typename, memberId }) => ({ __typename, memberId }),
      tier: (entity, _, context) => mapMaybe(standingOf(entity, context), tierNameOf),
      points: (entity, _, context) => mapMaybe(standingOf(entity, context), pointsOf),
      standing: (entity, _, context) => standingOf(entity, context),
      activities: ({ memberId }, page, context) =>
        pageOf(memberId, [callingPartner(context.caller)], page, context),
    },
    MemberProfile: {
      __resolveReference: ({ __typename, memberId, activePartnerIds }) => ({
        __typename,
        memberId,
        activePartnerIds,
      }),
      membershipYearStats: (profile, _, context) =>
        mapMaybe(mapMaybe(standingsOf(profile, context), sumsOf), (years) => ({
          akinPoints: clampInt(years.reduce((sum, { points }) => sum + points, 0)),
          totalStays: clampInt(years.reduce((sum, { stays }) => sum + stays, 0)),
        })),
      partnerStandings: (profile, _, context) => standingsOf(profile, context),
      standings: (profile, _, context) => standingsOf(profile, context),
      activities: (profile, page, context) =>
        pageOf(profile.memberId, visiblePartners(profile, context.caller), page, context),
    },
    PartnerStanding: { tier: tierNameOf, points: pointsOf },
    Standing: {
      tier: tierNameOf,
      points: pointsOf,
      stays: (standing) => mapMaybe(standing.sums(), ({ stays }) => stays),
      nextTier: (standing) => mapMaybe(standing.tier(), ({ next }) => next?.name),
      pointsToNextTier: (standing) => mapMaybe(standing.tier(), ({ next }) => next?.missing),
      yearStart: ({ program, asOf }) => yearStart(program, asOf),
      yearEnd: ({ program, asOf }) => yearStart(program, asOf, 1),
      tierFrom: ({ program, asOf, tier }) =>
        mapMaybe(tier(), ({ earnedIn }) => yearStart(program, asOf, earnedIn)),
      tierValidUntil: ({ program, asOf, tier }) =>
        mapMaybe(tier(), ({ validUntil }) => yearStart(program, asOf, validUntil)),
      previousYear: ({ program, asOf, sumsBefore }) =>
        mapMaybe(
          sumsBefore(),
          (sums) =>
            sums && {
              ...sums,
              tier: tierOf(program, sums.points),
              yearStart: yearStart(program, asOf, -1),
              yearEnd: yearStart(program, asOf),
            },
        ),
    },
    Program: {
      membershipYearStart: ({ membershipYear }) => membershipYear.start,
      timeZone: ({ membershipYear }) => membershipYear.timeZone,
      tierValidity: ({ tierValidity }) => (tierValidity === 'nextYear' ? 'NEXT_YEAR' : 'YEAR'),
    },
    Event: { occurredAt: ({ occurredAt }) => new Date(occurredAt) },
    DateTime: DATE_TIME,
  };
}

function tierNameOf(standing: CurrentStanding): MaybePromise<string> {
  return mapMaybe(standing.tier(), ({ name }) => name);
}

function pointsOf(standing: CurrentStanding): MaybePromise<number> {
  return mapMaybe(standing.sums(), ({ points }) => points);
}

function sumsOf(standings: CurrentStanding[]): MaybePromise<Standing[]> {
  return allMaybe(standings.map(({ sums }) => sums()));
}
