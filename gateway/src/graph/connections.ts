// The connections to subgraphs, which graphs share as long as a subgraph keeps its address.
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import {
  isBuiltIn,
  settingsOfSubgraph,
  variableOf,
  type WithSubgraphs,
} from '@partner-loyalty/runtime/settings/subgraphs.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { allowedHosts } from '@partner-loyalty/runtime/transport/hosts.ts';
import { oneSecret } from '@partner-loyalty/runtime/transport/secrets.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import type { GraphStore, SubgraphEntry } from './graph.ts';
import { followSecrets } from './secrets.ts';

export type Connection = {
  readonly transport: Transport;
  /** What it was opened with: the same key leads to the same connection. */
  readonly key: string;
  graphs: number;
};

export type Connections = ReturnType<typeof createConnections>;

/** This process lacks a setting that the graph needs. */
export class WrongSettings extends Error {}

type ConnectionSettings = WithSubgraphs &
  Pick<Settings, 'subgraphHosts' | 'environment' | 'sandboxUrl' | 'keyEncryptionKey'>;

/** `inProcess` are the subgraphs of this process, which its main file closes. */
export function createConnections(parts: {
  settings: ConnectionSettings;
  /** Has the secrets that are not in the settings. */
  store?: Pick<GraphStore, 'tables'>;
  inProcess: Readonly<Record<string, Transport>>;
  log: Log;
  metrics: Metrics;
}) {
  const { settings, store, inProcess, log, metrics } = parts;
  const allowed = allowedHosts(settings);
  const inUse = new Map<string, Connection>();

  async function connect(entry: SubgraphEntry): Promise<Connection> {
    const { name, batching, codes } = entry;
    const local = Object.hasOwn(inProcess, name) ? inProcess[name] : undefined;
    if (local !== undefined) return { key: name, transport: local, graphs: 0 };
    const { url, isSet, secret } = requireAddress(settings, entry);
    const key = JSON.stringify([name, url, batching, codes]);
    const known = inUse.get(key);
    if (known !== undefined) return known;
    // Loading it takes a while, and a process that carries all subgraphs does not need it.
    const { createHttpTransport } = await import('@partner-loyalty/runtime/transport/client.ts');
    const stored =
      secret === undefined && store !== undefined
        ? await followSecrets(name, { store, settings, log })
        : undefined;
    const secrets = stored ?? oneSecret(secret);
    const allows = isSet ? undefined : allowed;
    const parts = { name, url, secrets, allows, batching, codes, log, metrics };
    const opened = createHttpTransport(parts);
    const close = async () => {
      await opened.close();
      await stored?.close();
    };
    const connection = { key, transport: { ...opened, close }, graphs: 0 };
    inUse.set(key, connection);
    return connection;
  }

  return {
    /**
     * The connections of a graph, by subgraph name. Rejects if a subgraph has no address, or wrong
     * settings. One without a secret is not asked until it has one.
     */
    async open(subgraphs: readonly SubgraphEntry[]): Promise<Map<string, Connection>> {
      // Before the first connection is opened, so that a fault leaves none open.
      for (const entry of subgraphs)
        if (!Object.hasOwn(inProcess, entry.name)) requireAddress(settings, entry);
      // At the same time: a store of secrets that hangs delays a start once, not once for each.
      const opened = new Map(
        await Promise.all(
          subgraphs.map(async (entry) => [entry.name, await connect(entry)] as const),
        ),
      );
      for (const connection of opened.values()) connection.graphs += 1;
      return opened;
    },
    /** Closes those that no other graph uses. */
    release(connections: Iterable<Connection>): void {
      for (const connection of connections) {
        connection.graphs -= 1;
        if (connection.graphs > 0 || !inUse.delete(connection.key)) continue;
        void connection.transport.close();
      }
    },
    async close(): Promise<void> {
      const all = [...inUse.values()];
      inUse.clear();
      await Promise.all(all.map(({ transport }) => transport.close()));
    },
  };
}

/**
 * The URL of a subgraph in another process, whether an operator has set it, and the secret from the
 * settings, if there is one. Undefined if it has no URL.
 */
export function addressOf(
  settings: WithSubgraphs,
  { name, url: published }: Pick<SubgraphEntry, 'name' | 'url'>,
): { url: string; isSet: boolean; secret: string | undefined } | undefined {
  const { url: set, secret } = settingsOfSubgraph(settings, name);
  const url = set ?? published;
  return url === undefined
    ? undefined
    : { url, isSet: set !== undefined || isBuiltIn(name), secret };
}

function requireAddress(settings: WithSubgraphs, entry: SubgraphEntry) {
  const variable = variableOf(entry.name, 'url');
  const fault = `${variable} must be set: ${entry.name} has no published URL`;
  const address = addressOf(settings, entry);
  if (address === undefined) throw new WrongSettings(`wrong settings:\n  ${fault}`);
  return address;
}
