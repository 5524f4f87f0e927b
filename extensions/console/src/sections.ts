// The sections of the console, in the order of its navigation.
import type { ServedGraphs } from '@partner-loyalty/gateway/graph/served.ts';
import { isLoopback, type Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { createAppsSection } from './apps.ts';
import { createDeprecationsSection, type DeprecationsParts } from './deprecations.ts';
import { createKeysSection, type KeysParts } from './keys.ts';
import { createManage } from './manage.ts';
import { createRequestsSection } from './requests.ts';
import type { Section } from './section.ts';
import { createStaffSection, type StaffParts } from './staff.ts';
import { createUsageSection, type UsageParts } from './usage.ts';
import { createWebhooksSection } from './webhooks.ts';

export type SectionParts = KeysParts &
  DeprecationsParts &
  UsageParts &
  StaffParts & {
    graphs: Pick<ServedGraphs, 'askFeed' | 'askProvider'>;
    settings: Pick<Settings, 'host' | 'idTokenIssuer'>;
  };

export function createSections(parts: SectionParts): Section[] {
  const { host, idTokenIssuer } = parts.settings;
  const manage = createManage(parts.graphs, isLoopback(host));
  // Another identity provider registers apps itself.
  const apps = idTokenIssuer === undefined ? [createAppsSection(manage)] : [];
  return [
    createKeysSection(parts),
    createUsageSection(parts),
    createRequestsSection(parts),
    createWebhooksSection(manage),
    ...apps,
    createDeprecationsSection(parts),
    createStaffSection(parts),
  ];
}
