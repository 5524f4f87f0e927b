// What a process reports at /readyz about itself and its dependencies.
import type { StoreState } from '../store/outage.ts';
import { withTimeout } from '../timeout.ts';

/**
 * `degraded` means that it is unavailable, but its callers manage without it for now; `full` that
 * it can be read, but has no room to write.
 */
export type DependencyState = 'up' | 'full' | 'degraded' | 'down';

/** `ok` is whether the process should get requests. */
export type Readiness = { ok: boolean; dependencies: Record<string, DependencyState> };

/** The longest that checking a process takes, and checking one dependency. */
export const READY_MS = 2_000;
const DEPENDENCY_MS = 1_800;

/** It is down if `ready` rejects, with `failure`, or does not resolve within 1.8 seconds. */
export async function stateOf(
  ready: () => Promise<StoreState>,
): Promise<{ state: 'up' | 'full' | 'down'; failure?: unknown }> {
  try {
    const found = await withTimeout(ready(), DEPENDENCY_MS, 'not ready in time');
    return { state: found ?? 'up' };
  } catch (failure) {
    return { state: 'down', failure };
  }
}

/** The readiness of a subgraph: its store answers. One that is full can be read. */
export async function storeReadiness(ready: () => Promise<StoreState>): Promise<Readiness> {
  const { state } = await stateOf(ready);
  return { ok: state !== 'down', dependencies: { store: state } };
}
