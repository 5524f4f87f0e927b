// A counter that is cheap to feed: it counts on its own and reports to prom-client on demand.
import type { Registry } from 'prom-client';
import { createSeries, type Labels } from './series.ts';

/** The count for one value of each label. */
export type Count = { inc(more?: number): void };

/**
 * Adds a counter to the registry, and returns a function that creates the series for given label
 * values. Without labels there is one series, from the start. An increment takes a few nanoseconds.
 * prom-client's own counter hashes the labels each time and takes 0.1 to 0.3 µs, and a request
 * counts four times.
 */
export function createCounter(
  row: { name: string; meaning: string; labels: readonly string[] },
  registry: Registry,
): (...values: string[]) => Count {
  const create = createSeries(
    'counter',
    row,
    registry,
    (labels) => new Series(labels),
    (created) => created.map(({ labels, value }) => ({ labels, value })),
  );
  if (row.labels.length > 0) return create;
  const only = create();
  return () => only;
}

class Series implements Count {
  readonly labels: Labels;
  value = 0;

  constructor(labels: Labels) {
    this.labels = labels;
  }

  inc(more = 1): void {
    this.value += more;
  }
}
