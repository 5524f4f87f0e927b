// The operation that asks whether a subgraph is ready.
import type { SubgraphRequest } from '../subgraph/types.ts';

/** Every subgraph can answer it; those of this repository check their stores first. */
export const PROBE: SubgraphRequest = {
  query: '{__typename}',
  scope: { kind: 'service' },
  requestId: 'ready',
};

/** Whether an operation is a probe. In any other scope, the same operation is one like others. */
export function isProbe({ query, scope }: SubgraphRequest): boolean {
  return scope.kind === 'service' && /^\s*(?:query\s*)?\{\s*__typename\s*\}\s*$/.test(query);
}
