// A gateway in this process, on stores of its own and on subgraphs that a test answers for.
import { readFileSync } from 'node:fs';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import type {
  IdentityRequest,
  IdentityResponse,
} from '@partner-loyalty/runtime/signin/exchange.ts';
import type { SubgraphRequest, Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { temporaryFolder } from '../../test/support/folder.ts';
import type { Audit } from '../src/audit.ts';
import { type Counters, createMemoryCounters } from '../src/budget/counters.ts';
import { createDocuments } from '../src/document/documents.ts';
import { type Gateway, openGateway } from '../src/gateway.ts';
import { graphOf, SUPERGRAPH_FILE } from '../src/graph/committed.ts';
import { createConnections } from '../src/graph/connections.ts';
import { serveGraphs } from '../src/graph/served.ts';
import type { GatewayExtension } from '../src/ports.ts';
import { openGraphStore, openKeyStore } from '../src/stores.ts';
import { NO_USAGE, type UsageCounter } from '../src/usage/usage.ts';

export type Given = {
  env?: Record<string, string>;
  /** All the subgraphs. */
  subgraph: Transport;
  log: Log;
  usage?: Partial<UsageCounter>;
  extensions?: readonly GatewayExtension[];
  counters?: Counters;
  audit?: Audit;
};

/** The embedded stores of a gateway, and what opens gateways on them. */
export async function openPlace() {
  const folder = temporaryFolder();
  const place = {
    mongodbUrl: undefined,
    dataDir: folder.path,
    environment: 'sandbox',
  } as const;
  const [keyStore, graphStore] = [await openKeyStore(place), await openGraphStore(place)];
  const closes: (() => unknown)[] = [keyStore.close, graphStore.close, folder.remove];

  async function open(given: Given): Promise<Gateway> {
    const { env = {}, subgraph, log, usage, extensions, audit } = given;
    const { counters = createMemoryCounters('sandbox') } = given;
    const [caches, metrics] = [createCaches(), createMetrics()];
    const documents = createDocuments(caches, metrics);
    const parts = { log, metrics, caches, documents };
    const connections = createConnections({
      settings: readSettings({}, 'all'),
      inProcess: { gateway: subgraph, members: subgraph, standings: subgraph },
      log,
      metrics,
    });
    const graph = graphOf(readFileSync(SUPERGRAPH_FILE, 'utf8'));
    const graphs = await serveGraphs(graph, { ...parts, connections, audits: audit !== undefined });
    const gateway = openGateway(
      {
        ...{ ...parts, keyStore, graphStore, graphs, audit, counters },
        settings: readSettings(env, 'all'),
        ...NO_USAGE,
        usage: { ...NO_USAGE.usage, ...usage },
      },
      extensions,
    );
    closes.unshift(gateway.close, connections.close);
    return gateway;
  }

  return {
    keyStore,
    open,
    async close() {
      for (const close of closes) await close();
    },
  };
}

/**
 * A subgraph that answers each field that a query names with what is made for it, and what is
 * forwarded with `forward`.
 */
export function answering(
  answers: Readonly<Record<string, () => unknown>>,
  asked: (request: SubgraphRequest) => void,
  forward?: (request: IdentityRequest) => MaybePromise<IdentityResponse>,
): Transport {
  return {
    execute(request: SubgraphRequest) {
      asked(request);
      if (request.forwarded !== undefined)
        return mapMaybe(forward?.(request.forwarded), (data) => ({ data }));
      const named = Object.entries(answers).filter(([name]) => request.query.includes(name));
      return { data: Object.fromEntries(named.map(([name, make]) => [name, make()])) };
    },
    ready: async () => {},
    close: async () => {},
  };
}
