// A variant: one way to answer the same look-ups, started as a process of its own.
import type { Server } from '../run/server.ts';
import type { Testbed } from '../run/testbed.ts';

export type Variant = {
  /** As tables and the chart show it. */
  title: string;
  kind: 'ours' | 'peer' | 'floor';
  start(testbed: Testbed): Promise<Server>;
};
