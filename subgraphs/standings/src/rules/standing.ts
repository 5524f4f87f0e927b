// A standing: the points and stays of one member with one partner in one membership year.
import { fitsInt } from './int.ts';

export type Standing = { points: number; stays: number };

/** The standing of a member without activity. */
export const NO_ACTIVITY: Standing = { points: 0, stays: 0 };

/** The sum of two standings; undefined if it would leave the range of Int. */
export function addStandings(one: Standing, other: Standing): Standing | undefined {
  const points = one.points + other.points;
  const stays = one.stays + other.stays;
  return fitsInt(points) && fitsInt(stays) ? { points, stays } : undefined;
}
