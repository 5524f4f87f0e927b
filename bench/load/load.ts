// What a load generator is given and gives back; wrk where it is on PATH, else autocannon.
import { findCommand } from '../../test/support/servers/debian.ts';
import type { Place } from '../machine.ts';
import { autocannon } from './autocannon.ts';
import { wrk } from './wrk.ts';

export type Load = {
  url: string;
  /** Raw requests, sent in turn, with NUMBER in each place where a member's number goes. */
  texts: string[];
  /** Numbers are below this. */
  members: number;
  seconds: number;
  connections: number;
  place: Place;
};

export type LoadResult = { requests: number; seconds: number; p50Ms: number; p99Ms: number };

export const GENERATOR = findCommand('wrk') === undefined ? 'autocannon' : 'wrk';

/** Sends requests as fast as they are answered. Rejects where one failed or was refused. */
export function saturate(load: Load): Promise<LoadResult> {
  return GENERATOR === 'wrk' ? wrk(load) : autocannon(load);
}
