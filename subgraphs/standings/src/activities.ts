// Pages of a member's activities, newest first, merged from those with each partner.
import { connectionOf, noCursor, pageLength } from '@partner-loyalty/runtime/cursor.ts';
import { fail, failInput } from '@partner-loyalty/runtime/errors.ts';
import { allMaybe, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { SubgraphContext } from '@partner-loyalty/runtime/subgraph/types.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import type { Activity } from './rules/activity.ts';
import { decodeCursor, encodeCursor, type Position } from './rules/cursor.ts';
import { yearOf } from './rules/year.ts';
import type { PartnerMemberReadActivitiesArgs } from './schema.generated.ts';
import type { Before } from './store/member.ts';
import type { StandingsStore } from './store/store.ts';

const DEFAULT_FIRST = 20;
const MAX_FIRST = 100;
/** The maximum of all pages of one operation: a page of 100 members with 20 activities each. */
const MAX_OF_OPERATION = 2_000;

/** Reads pages. It is synchronous if the store is. */
export function createPages(store: Pick<StandingsStore, 'program' | 'latestActivities'>) {
  const asked = new WeakMap<SubgraphContext, number>();

  /** Bounds what one operation can read, whatever its members and aliases. */
  function charge(context: SubgraphContext, activities: number): void {
    const sum = (asked.get(context) ?? 0) + activities;
    asked.set(context, sum);
    if (sum > MAX_OF_OPERATION)
      failInput('first', `adds up to more than ${MAX_OF_OPERATION} activities in the operation`);
  }

  return function pageOf(
    memberId: string,
    partnerIds: readonly string[],
    { first, after }: PartnerMemberReadActivitiesArgs,
    context: SubgraphContext,
  ) {
    const size = pageLength(first, DEFAULT_FIRST, MAX_FIRST);
    const owner = ownerOf(context.caller, memberId);
    const position = after == null ? undefined : (decodeCursor(after, owner) ?? noCursor());
    charge(context, size * partnerIds.length);
    const reads = partnerIds.map((partnerId) =>
      mapMaybe(store.program(partnerId), (program) => {
        const before = position && beforeOf(position, partnerId);
        // One more than the page has, which says whether there is another page.
        const latest = store.latestActivities(partnerId, memberId, size + 1, before);
        return mapMaybe(latest, (found) =>
          found.map((one) => ({ ...one, membershipYear: yearOf(program, one.occurredAt) })),
        );
      }),
    );
    return mapMaybe(allMaybe(reads), (found) => {
      const newest = found.length === 1 ? (found[0] ?? []) : found.flat().sort(byPosition);
      const edges = newest
        .slice(0, size)
        .map((node) => ({ node, cursor: encodeCursor(positionIn(node), owner) }));
      return connectionOf(edges, newest.length > size, after);
    });
  };
}

/** The caller and the member that a cursor belongs to. Any other caller or member refuses it. */
function ownerOf(caller: Caller, memberId: string): string[] {
  if (caller.kind === 'partner') return ['partner', caller.partnerId, memberId];
  if (caller.kind === 'member') return ['member', caller.partnerId ?? '', memberId];
  return fail('INTERNAL_SERVER_ERROR');
}

/** The order of a page: by time, then by partner, then as the store has it. Newest first. */
function byPosition(one: Activity, other: Activity): number {
  const later = other.occurredAt.getTime() - one.occurredAt.getTime();
  if (later !== 0 || one.partnerId === other.partnerId) return later;
  return one.partnerId < other.partnerId ? 1 : -1;
}

/** Where the activities of a partner go on after a position. */
function beforeOf({ occurredAtMs, partnerId, activityId }: Position, ofPartner: string): Before {
  if (ofPartner === partnerId) return { occurredAtMs, activityId };
  // If the partner comes later in the order, its activities of the same instant are to come.
  return { occurredAtMs: ofPartner < partnerId ? occurredAtMs + 1 : occurredAtMs };
}

function positionIn({ occurredAt, partnerId, activityId }: Activity): Position {
  return { occurredAtMs: occurredAt.getTime(), partnerId, activityId };
}
