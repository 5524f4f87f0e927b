// The start page, the documentation and the explorer, as an extension of the gateway.

import { hasCredential } from '@partner-loyalty/gateway/pages/visit.ts';
import type { Core, Extension } from '@partner-loyalty/gateway/ports.ts';
import { once } from '@partner-loyalty/runtime/once.ts';
import type { About } from './frame.ts';

export function open(core: Core): Extension {
  const { settings, graphs, graphStore: store, graphql, visit, log } = core;
  const pages = once(async () => {
    const { createPages } = await import('./pages.ts');
    return createPages({ about: aboutOf(core), settings, graphs, store, log });
  });
  return {
    // Any path: what is no page is a request to the API, counted by the address.
    handle: (request) =>
      hasCredential(request)
        ? undefined
        : visit(request, async (visited) => (await pages())(visited) ?? graphql(visited)),
  };
}

/** What the pages show about this service. */
function aboutOf({ settings, own, other }: Core): About {
  return {
    environment: settings.environment,
    endpoint: `${own}/graphql`,
    otherEndpoint: settings.hasOtherBaseUrl ? `${other}/graphql` : undefined,
    mcpEndpoint: `${own}/mcp`,
    hasExplorer: settings.explorer === 'on',
    hasConsole: settings.console === 'on',
  };
}
