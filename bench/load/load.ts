// What a load generator is given, and what it measures.
import type { CoreSet } from '../machine/cores.ts';

type Connections = {
  url: string;
  seconds: number;
  connections: number;
  /** Where the generator runs. */
  cores: CoreSet;
};

export type Load = Connections & {
  /** Request templates, sent in rotation. */
  templates: string[];
  /** How many members to ask about. */
  members: number;
};

/** Requests of a file (dataset/mix/list.ts) in its order, again and again. */
export type ListLoad = Connections & { list: string };

export type LoadResult = { requests: number; seconds: number; p50Ms: number; p99Ms: number };
