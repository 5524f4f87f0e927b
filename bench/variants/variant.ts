// What a variant is: one way to answer the same look-ups, started as a process of its own.
import type { Running, Stage } from '../stage.ts';

export type Variant = {
  /** As tables and the chart show it. */
  title: string;
  kind: 'ours' | 'peer' | 'floor';
  start(stage: Stage): Promise<Running>;
};
