// Who uses what a change breaks, and how often.
import type { FieldUsage } from '@partner-loyalty/gateway/usage/usage.ts';
import type { SurfaceChange } from './changes.ts';

/** How often a partner used it; without a partner, members whose tokens no partner holds. */
export type UsedBy = { partnerId?: string | undefined; count: number };

export type CheckedChange = Omit<SurfaceChange, 'affected' | 'kind'> & {
  /** The most frequent first. Empty unless the change is breaking. */
  usedBy: readonly UsedBy[];
};

/**
 * The changes, with the callers that used what they break. If a change affects several coordinates,
 * a caller's count is that of the coordinate it used most: one operation often uses several.
 */
export function withUsage(
  changes: readonly SurfaceChange[],
  usage: readonly FieldUsage[],
): CheckedChange[] {
  const counts = new Map<string, Map<string, number>>();
  for (const { surface, coordinate, partnerId = '', count } of usage) {
    const what = `${surface} ${coordinate}`;
    const byPartner = counts.get(what) ?? new Map();
    counts.set(what, byPartner.set(partnerId, (byPartner.get(partnerId) ?? 0) + count));
  }
  return changes.map(({ affected, kind: _, ...change }) => {
    const most = new Map<string, number>();
    for (const coordinate of affected)
      for (const [partnerId, count] of counts.get(`${change.surface} ${coordinate}`) ?? [])
        most.set(partnerId, Math.max(most.get(partnerId) ?? 0, count));
    const usedBy = Array.from(most, ([partnerId, count]) => ({
      partnerId: partnerId || undefined,
      count,
    }));
    return { ...change, usedBy: usedBy.sort((a, b) => b.count - a.count) };
  });
}
