// What a load generator is given, and what it measures.
import type { CoreSet } from '../machine/cores.ts';

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
