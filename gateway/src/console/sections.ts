// The sections of the console, in the order of its navigation.
import type { KeyStore } from '../identity/keystore.ts';
import type { UsageStore } from '../usage/usagestore.ts';
import { createDeprecationsSection, type DeprecationsParts } from './deprecations.ts';
import { createKeysSection, type KeysParts } from './keys.ts';
import { requestsSection } from './requests.ts';
import type { Section } from './section.ts';
import { createStaffSection } from './staff.ts';
import { usageSection } from './usage.ts';

export type SectionParts = Pick<KeysParts, 'settings'> &
  Pick<DeprecationsParts, 'graphs'> & { keyStore: KeyStore; usageStore: UsageStore };

export function createSections(parts: SectionParts): Section[] {
  return [
    createKeysSection(parts),
    usageSection(parts.usageStore),
    requestsSection(parts.usageStore),
    createDeprecationsSection(parts),
    createStaffSection(parts),
  ];
}
