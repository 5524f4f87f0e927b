// Full load by the external load generator: wrk if it is on PATH, else autocannon.
import { findCommand } from '../../test/support/servers/debian.ts';
import { autocannon } from './autocannon.ts';
import type { ListLoad, Load, LoadResult } from './load.ts';
import { wrk } from './wrk.ts';

export const GENERATOR = findCommand('wrk') === undefined ? 'autocannon' : 'wrk';

/**
 * Sends each request as soon as a connection is free. Rejects if a request fails or its status is
 * an error.
 */
export function saturate(load: Load | ListLoad): Promise<LoadResult> {
  return GENERATOR === 'wrk' ? wrk(load) : autocannon(load);
}
