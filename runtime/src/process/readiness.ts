// What a process says of itself and of what it depends on, at /readyz.
import { withTimeout } from '../timeout.ts';

/** `degraded` means that it is away, and that its callers manage without it for the moment. */
export type DependencyState = 'up' | 'degraded' | 'down';

/** `ok` is whether the process should get requests. */
export type Readiness = { ok: boolean; dependencies: Record<string, DependencyState> };

/** How long the answer for a process takes at most, and that for one dependency. */
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
