// The parts of the benchmark by name, in the order of the report.
import { exitWith } from '../run/progress.ts';
import { activities } from './activities.ts';
import { coldstart } from './coldstart.ts';
import { document } from './document.ts';
import { features } from './features.ts';
import { gateways } from './gateways.ts';
import { growth } from './growth.ts';
import { offered } from './offered.ts';
import type { Part } from './part.ts';
import { profile } from './profile.ts';
import { soak } from './soak.ts';
import { subgraph } from './subgraph.ts';
import { updates } from './updates.ts';
import { workers } from './workers.ts';

export const PARTS: Record<string, Part> = {
  gateways,
  offered,
  features,
  growth,
  activities,
  coldstart,
  document,
  soak,
  workers,
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
