// The parts of the benchmark by name, in the order of the report.

import { recording } from './parts/activities/recording.ts';
import { activities } from './parts/activities/year.ts';
import { coldstart } from './parts/coldstart.ts';
import { document } from './parts/document.ts';
import { features } from './parts/features.ts';
import { gateways } from './parts/gateways.ts';
import { growth, keys } from './parts/growth.ts';
import { mcp } from './parts/mcp.ts';
import { mix, mixReads } from './parts/mix.ts';
import { offered } from './parts/offered.ts';
import type { Part } from './parts/part.ts';
import { profile } from './parts/profile.ts';
import { soak } from './parts/soak.ts';
import { subgraph } from './parts/subgraph.ts';
import { updates } from './parts/updates.ts';
import { exitWith } from './run/progress.ts';

export const PARTS: Record<string, Part> = {
  'mix-reads': mixReads,
  mix,
  gateways,
  offered,
  features,
  mcp,
  keys,
  growth,
  activities,
  recording,
  coldstart,
  document,
  soak,
  subgraph,
  updates,
  profile,
};

/** The parts with these names; without names, `gateways`. Ends the process on an unknown name. */
export function selectParts(
  names: readonly string[],
  isEligible: (part: Part) => boolean = () => true,
): [name: string, part: Part][] {
  const eligible = Object.entries(PARTS).filter(([, part]) => isEligible(part));
  if (names.includes('all')) return eligible;
  return (names.length === 0 ? ['gateways'] : names).map((name) => {
    const found = eligible.find(([each]) => each === name);
    const choices = eligible.map(([each]) => each).join(', ');
    return found ?? exitWith(`no such part: ${name}; choose from all, ${choices}`);
  });
}
