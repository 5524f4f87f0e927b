// The operation that checks whether a subgraph is ready.
import type { SubgraphRequest } from './types.ts';

/**
 * Every GraphQL server can answer it; the subgraphs of this repository check their stores first.
 */
export const PROBE: SubgraphRequest = {
  query: '{__typename}',
  caller: { kind: 'service' },
  requestId: 'ready',
};

/** Whether an operation is a probe. For any other caller, the same operation is an ordinary one. */
export function isProbe({ query, caller }: SubgraphRequest): boolean {
  return caller.kind === 'service' && /^\s*(?:query\s*)?\{\s*__typename\s*\}\s*$/.test(query);
}
