// What a process reports at /readyz about itself and its dependencies.
import { withTimeout } from '../timeout.ts';

/** `degraded` means that it is unavailable, but its callers manage without it for now. */
export type DependencyState = 'up' | 'degraded' | 'down';

/** `ok` is whether the process should get requests. */
export type Readiness = { ok: boolean; dependencies: Record<string, DependencyState> };

/** The longest that checking a process takes, and checking one dependency. */
export const READY_MS = 2_000;
const DEPENDENCY_MS = 1_800;

/** The error with which `ready` rejects, or undefined if it resolves within 1.8 seconds. */
export async function failureOf(ready: () => Promise<unknown>): Promise<unknown> {
  try {
    await withTimeout(ready(), DEPENDENCY_MS, () => new Error('not ready in time'));
    return undefined;
  } catch (error) {
    return error ?? new Error('not ready');
  }
}

/** The readiness of a subgraph: its store answers. */
export async function storeReadiness(ready: () => Promise<void>): Promise<Readiness> {
  const ok = (await failureOf(ready)) === undefined;
  return { ok, dependencies: { store: ok ? 'up' : 'down' } };
}
