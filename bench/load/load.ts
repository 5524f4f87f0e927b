// Full load by the external load generator: wrk if it is on PATH, else autocannon.
import { findCommand } from '../../test/support/servers/debian.ts';
import type { CoreSet } from '../machine/cores.ts';
import { autocannon } from './autocannon.ts';
import { wrk } from './wrk.ts';

export type Load = {
  url: string;
  /** Request templates, sent in rotation. */
  templates: string[];
  /** How many members to ask about. */
  members: number;
  seconds: number;
  connections: number;
  /** Where the generator runs. */
  cores: CoreSet;
};

export type LoadResult = { requests: number; seconds: number; p50Ms: number; p99Ms: number };

export const GENERATOR = findCommand('wrk') === undefined ? 'autocannon' : 'wrk';

/** Sends each request as soon as a connection is free. Rejects if one fails or its status is an error. */
export function saturate(load: Load): Promise<LoadResult> {
  return GENERATOR === 'wrk' ? wrk(load) : autocannon(load);
}
