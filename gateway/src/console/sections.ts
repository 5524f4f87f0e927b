// The sections of the console, in the order of its navigation.
import { createDeprecationsSection, type DeprecationsParts } from './deprecations.ts';
import { createKeysSection, type KeysParts } from './keys.ts';
import type { Section } from './section.ts';
import { createStaffSection } from './staff.ts';

export type SectionParts = KeysParts & DeprecationsParts;

export function createSections(parts: SectionParts): Section[] {
  return [createKeysSection(parts), createDeprecationsSection(parts), createStaffSection(parts)];
}
