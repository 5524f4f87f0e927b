// The transport from one subgraph of this repository to another one in a separate process.
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { settingsOfSubgraph } from '../settings/subgraphs.ts';
import type { Settings } from '../settings/table.ts';
import { oneSecret } from './secrets.ts';
import type { Transport } from './types.ts';

/**
 * Signs with the secret of the called subgraph, as the gateway does. Undefined if the subgraph's
 * URL is not set.
 */
export async function openRemoteTransport(
  name: string,
  settings: Pick<Settings, 'subgraphs' | 'subgraphSecret' | 'subgraphSecretOld'>,
  { log, metrics }: { log: Log; metrics: Pick<Metrics, 'subgraphCall' | 'circuit'> },
): Promise<Transport | undefined> {
  const { url, secret } = settingsOfSubgraph(settings, name);
  if (url === undefined || secret === undefined) return undefined;
  // Loading it takes a while.
  const { createHttpTransport } = await import('./client.ts');
  const secrets = oneSecret(secret);
  return createHttpTransport({ name, url, secrets, batching: true, codes: [], log, metrics });
}
