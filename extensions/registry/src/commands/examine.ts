// What `loyalty doctor` finds of the subgraphs.
import { type Finding, finding } from '@partner-loyalty/cli/shell/extension.ts';
import { withStore } from '@partner-loyalty/cli/shell/stores.ts';
import type { GraphStore } from '@partner-loyalty/gateway';
import { settingsOfSubgraph } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { StoreName } from '@partner-loyalty/runtime/store/private.ts';
import { requireServed } from '../ask.ts';
import { committedContent, currentContent } from '../publish/content.ts';

/** Checks subgraphs as publishing does; those in the same process are not called. */
export function examine(settings: Settings, stores: readonly StoreName[]): Promise<Finding[]> {
  return stores.includes('graph')
    ? withStore('graph', settings, (store) => checkSubgraphs(settings, store))
    : checkSubgraphs(settings, undefined);
}

async function checkSubgraphs(settings: Settings, store: GraphStore | undefined) {
  const { subgraphs, schemas } = store ? await currentContent(store) : committedContent();
  const remedy = 'start it, or correct its URL, secret, clock or version, as the reason says';
  return Promise.all(
    subgraphs.map((entry) =>
      finding(`subgraph ${entry.name}`, remedy, async () => {
        const others = subgraphs.filter((each) => each !== entry).map(({ name }) => name);
        const options = { givenUrl: undefined, others };
        await requireServed({ settings, store }, entry, schemas[entry.name] ?? '', options);
        return settingsOfSubgraph(settings, entry.name).url ?? 'it serves its schema';
      }),
    ),
  );
}
