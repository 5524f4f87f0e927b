// The parts of the benchmark by name, in the order of the report.

import { coldstart } from './parts/coldstart.ts';
import { document } from './parts/document.ts';
import { fair } from './parts/fair.ts';
import { features } from './parts/features.ts';
import { growth } from './parts/growth.ts';
import { mix, mixReads } from './parts/mix.ts';
import { offered } from './parts/offered.ts';
import type { Part } from './parts/part.ts';
import { publicPart } from './parts/public.ts';
import { recording } from './parts/recording.ts';
import { exitWith } from './run/progress.ts';

export const PARTS: Record<string, Part> = {
  'mix-reads': mixReads,
  mix,
  public: publicPart,
  offered,
  features,
  growth,
  recording,
  coldstart,
  document,
  fair,
};

/** The parts with these names; without names, `mix-reads`. Ends the process on an unknown name. */
export function selectParts(
  names: readonly string[],
  isEligible: (part: Part) => boolean = () => true,
): [name: string, part: Part][] {
  const eligible = Object.entries(PARTS).filter(([, part]) => isEligible(part));
  if (names.includes('all')) return eligible;
  return (names.length === 0 ? ['mix-reads'] : names).map((name) => {
    const found = eligible.find(([each]) => each === name);
    const choices = eligible.map(([each]) => each).join(', ');
    return found ?? exitWith(`no such part: ${name}; choose from all, ${choices}`);
  });
}
