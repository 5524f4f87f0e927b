// Checks the activities that a partner records; errors name the argument's path, never its value.
import { failInput } from '@partner-loyalty/runtime/errors.ts';
import { textFault } from '@partner-loyalty/runtime/input.ts';
import {
  type Activity,
  INSTANT_FORM,
  isAmount,
  isPossibleTime,
  MAX_ID,
  parseInstant,
} from './activity.ts';

/** An activity as the API takes it. `occurredAt` is what the caller sent. */
export type ActivityInput = {
  activityId: string;
  memberId: string;
  points: number;
  stays?: number | null | undefined;
  occurredAt: unknown;
};

const MAX_ACTIVITIES = 100;
/** No valid time is longer, whatever its zone and fraction. */
const MAX_TIME = 64;

/** Fails with BAD_USER_INPUT unless there are 1 to 100 activities, all of them well-formed. */
export function parseActivities(
  argument: string,
  partnerId: string,
  inputs: readonly ActivityInput[],
): Activity[] {
  if (inputs.length === 0 || inputs.length > MAX_ACTIVITIES)
    failInput(argument, `must have 1 to ${MAX_ACTIVITIES} items`);
  return inputs.map(({ activityId, memberId, points, stays, occurredAt }, index) => ({
    activityId: parseId(`${argument}.${index}.activityId`, activityId),
    partnerId,
    memberId: parseId(`${argument}.${index}.memberId`, memberId),
    points: points + 0, // -0 becomes 0.
    stays: (stays ?? 0) + 0,
    occurredAt: parseTime(`${argument}.${index}.occurredAt`, occurredAt),
  }));
}

/** Whether points, stays and time are what imports take too. */
export function isInRange({ points, stays, occurredAt }: Activity, now: Date): boolean {
  return isAmount(points) && isAmount(stays) && isPossibleTime(occurredAt, now);
}

function parseId(argument: string, value: string): string {
  const fault = textFault(value, MAX_ID);
  return fault === undefined ? value.trim() : failInput(argument, fault);
}

function parseTime(argument: string, value: unknown): Date {
  const at =
    typeof value === 'string' && value.length <= MAX_TIME ? parseInstant(value) : undefined;
  return at ?? failInput(argument, `must be ${INSTANT_FORM}`);
}
