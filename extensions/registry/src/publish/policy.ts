// Finds what the deprecation policy forbids: removing early what callers were promised.
import { dayOf, MONTHS_KEPT, monthsAfter } from '@partner-loyalty/gateway/schema/dates.ts';
import { deprecationsOf, elementsOf } from '@partner-loyalty/gateway/schema/deprecations.ts';
import { SURFACE_NAMES, type SurfaceName } from '@partner-loyalty/gateway/schema/surfaces.ts';
import type { SurfaceSchemas } from './changes.ts';

/**
 * A line for each fault: something is removed before its date, or what callers have is deprecated
 * for less time than promised.
 */
export function policyFaults(before: SurfaceSchemas, after: SurfaceSchemas, now: Date): string[] {
  const today = new Date(now).setUTCHours(0, 0, 0, 0);
  return SURFACE_NAMES.flatMap((surface) =>
    faultsOf(before[surface], after[surface], surface, today),
  );
}

function faultsOf(
  before: SurfaceSchemas[SurfaceName],
  after: SurfaceSchemas[SurfaceName],
  surface: SurfaceName,
  today: number,
): string[] {
  const faults: string[] = [];
  const earliest = monthsAfter(today, MONTHS_KEPT);
  const promised = deprecationsOf(before);
  const next = deprecationsOf(after);
  const remaining = elementsOf(after);
  for (const coordinate of elementsOf(before).keys()) {
    const former = promised.get(coordinate)?.until;
    const until = next.get(coordinate)?.until;
    const name = `${coordinate} (${surface})`;
    if (!remaining.has(coordinate)) {
      if (former !== undefined && former > today)
        faults.push(`${name} is kept until ${dayOf(former)}`);
    } else if (until !== undefined && until < Math.min(former ?? earliest, earliest))
      faults.push(`${name} must be kept until ${dayOf(Math.min(former ?? earliest, earliest))}`);
  }
  return faults;
}
