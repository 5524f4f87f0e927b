// Checks the activities that a partner records; a malformed one is named by its path.
import { failInput } from '@partner-loyalty/runtime/errors.ts';
import { textFault } from '@partner-loyalty/runtime/input.ts';
import { type Activity, isAmount, isPossibleTime, MAX_ID, parseInstant } from './activity.ts';

/** An activity as the API takes it. `occurredAt` is what the caller sent. */
type ActivityInput = {
  activityId: string;
  memberId: string;
  points: number;
  stays?: number | null | undefined;
  occurredAt: unknown;
};

/** What the API takes for an activity, but is none: `argument` is the path of the first fault. */
export type InvalidActivity = { activityId: string; argument: string };

const MAX_ACTIVITIES = 100;
/** No valid time is longer, whatever its zone and fraction. */
const MAX_TIME = 64;

/** In the order of the inputs. Fails with BAD_USER_INPUT unless there are 1 to 100. */
export function parseActivities(
  argument: string,
  partnerId: string,
  inputs: readonly ActivityInput[],
): (Activity | InvalidActivity)[] {
  if (inputs.length === 0 || inputs.length > MAX_ACTIVITIES)
    failInput(argument, `must have 1 to ${MAX_ACTIVITIES} items`);
  return inputs.map((input, index) => {
    const activity = parseActivity(partnerId, input);
    return typeof activity === 'string'
      ? { activityId: input.activityId, argument: `${argument}.${index}.${activity}` }
      : activity;
  });
}

/** Whether points, stays and time are what imports take too. */
export function isInRange({ points, stays, occurredAt }: Activity, now: Date): boolean {
  return isAmount(points) && isAmount(stays) && isPossibleTime(occurredAt, now);
}

/** The activity, or the name of the first field at fault. IDs come out trimmed. */
function parseActivity(
  partnerId: string,
  { activityId, memberId, points, stays, occurredAt }: ActivityInput,
): Activity | keyof ActivityInput {
  if (textFault(activityId, MAX_ID) !== undefined) return 'activityId';
  if (textFault(memberId, MAX_ID) !== undefined) return 'memberId';
  const isTime = typeof occurredAt === 'string' && occurredAt.length <= MAX_TIME;
  const at = isTime ? parseInstant(occurredAt) : undefined;
  if (at === undefined) return 'occurredAt';
  return {
    activityId: activityId.trim(),
    partnerId,
    memberId: memberId.trim(),
    points: points + 0, // -0 becomes 0.
    stays: (stays ?? 0) + 0,
    occurredAt: at,
  };
}
