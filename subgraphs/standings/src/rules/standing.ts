// A standing: the points and stays of one member with one partner in one membership year.

export type Standing = { points: number; stays: number };

/** A standing of a known member. */
export type MemberStanding = Standing & { partnerId: string; year: string };

export const NO_ACTIVITY: Standing = { points: 0, stays: 0 };

/** The sum of two standings; undefined if it would leave the range of Int. */
export function addStandings(one: Standing, other: Standing): Standing | undefined {
  const points = one.points + other.points;
  const stays = one.stays + other.stays;
  return fitsInt(points) && fitsInt(stays) ? { points, stays } : undefined;
}

/** The sums of two members together; undefined if one would leave the range of Int. */
export function joinStandings(standings: readonly MemberStanding[]): MemberStanding[] | undefined {
  const joined = new Map<string, MemberStanding>();
  for (const one of standings) {
    const key = `${one.partnerId}\0${one.year}`;
    const sum = addStandings(joined.get(key) ?? NO_ACTIVITY, one);
    if (sum === undefined) return undefined;
    joined.set(key, { ...one, ...sum });
  }
  return [...joined.values()];
}

export const INT_MIN = -(2 ** 31);
export const INT_MAX = 2 ** 31 - 1;

function fitsInt(sum: number): boolean {
  return sum >= INT_MIN && sum <= INT_MAX;
}

export function clampInt(sum: number): number {
  return Math.min(INT_MAX, Math.max(INT_MIN, sum));
}
