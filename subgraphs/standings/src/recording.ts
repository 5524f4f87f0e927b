// Records what a partner sends: activities of members who were ever enrolled with it.
import type { MembersClient } from './members.ts';
import type { Activity, DatedActivity } from './rules/activity.ts';
import { type InvalidActivity, isInRange } from './rules/activityinput.ts';
import { yearOf } from './rules/year.ts';
import type { ActivityOutcome } from './schema.generated.ts';
import type { RecordOutcome } from './store/record.ts';
import type { StandingsStore } from './store/store.ts';

type RecordedActivity = {
  activityId: string;
  outcome: `${ActivityOutcome}`;
  /** Undefined if the partner must not learn whether there is such a member. */
  memberId: string | undefined;
  /** The path of what makes it INVALID. */
  argument: string | undefined;
};

/** To a partner, an erased member is like one who never existed. */
const OUTCOMES: Record<RecordOutcome, `${ActivityOutcome}`> = {
  recorded: 'RECORDED',
  'already-recorded': 'ALREADY_RECORDED',
  conflict: 'CONFLICT',
  'out-of-range': 'OUT_OF_RANGE',
  erased: 'NOT_ENROLLED',
};

/**
 * Returns a function that records activities of one partner, with the outcomes in their order. If
 * members cannot be asked, it rejects, and nothing is recorded.
 */
export function createRecorder(
  store: Pick<StandingsStore, 'program' | 'record' | 'merges'>,
  members: MembersClient,
  now: () => Date,
) {
  return async function record(
    partnerId: string,
    entries: readonly (Activity | InvalidActivity)[],
    requestId: string,
  ): Promise<RecordedActivity[]> {
    const activities = entries.filter(isActivity);
    const memberIds = [...new Set(activities.map(({ memberId }) => memberId))];
    const [enrolled, merged] = await Promise.all([
      members.everEnrolled(partnerId, memberIds, requestId),
      store.merges.currentIds(memberIds),
    ]);
    const program = await store.program(partnerId);
    const at = now();
    const refusalOf = (one: Activity): RecordedActivity['outcome'] | undefined =>
      !enrolled.has(one.memberId)
        ? 'NOT_ENROLLED'
        : isInRange(one, at)
          ? undefined
          : 'OUT_OF_RANGE';
    const dated = activities
      .filter((one) => refusalOf(one) === undefined)
      .map((one): DatedActivity => ({ ...one, year: yearOf(program, one.occurredAt) }));
    const recorded = (dated.length === 0 ? [] : await store.record(dated)).values();
    return entries.map((entry): RecordedActivity => {
      if (!isActivity(entry)) return { ...entry, outcome: 'INVALID', memberId: undefined };
      const { activityId } = entry;
      const outcome = refusalOf(entry) ?? OUTCOMES[recorded.next().value ?? 'erased'];
      const memberId =
        outcome === 'NOT_ENROLLED' ? undefined : (merged.get(entry.memberId) ?? entry.memberId);
      return { activityId, outcome, memberId, argument: undefined };
    });
  };
}

function isActivity(entry: Activity | InvalidActivity): entry is Activity {
  return !('argument' in entry);
}
