// The sections of the console, in the order of its navigation.
import { isLoopback } from '@partner-loyalty/runtime/settings/table.ts';
import { createAppsSection } from './apps.ts';
import { createDeprecationsSection } from './deprecations.ts';
import { createKeysSection } from './keys.ts';
import { type ConsoleParts, createManage } from './manage.ts';
import { createRequestsSection } from './requests.ts';
import type { Section } from './section.ts';
import { createStaffSection } from './staff.ts';
import { createUsageSection } from './usage.ts';
import { createWebhooksSection } from './webhooks.ts';

export function createSections(parts: ConsoleParts): Section[] {
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
