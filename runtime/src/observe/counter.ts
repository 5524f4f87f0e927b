// A counter that is cheap to feed: it counts on its own and reports to prom-client on demand.
import type { Metric, Registry } from 'prom-client';

/** The count for one value of each label. */
export type Count = { inc(more?: number): void };

/**
 * Adds a counter to the registry, and returns a function that creates the series for given label
 * values. Without labels there is one series, from the start. An increment takes a few nanoseconds.
 * prom-client's own counter hashes the labels each time and takes 0.1 to 0.3 µs, and a request
 * counts four times.
 */
export function createCounter(
  { name, meaning, labels }: { name: string; meaning: string; labels: readonly string[] },
  registry: Registry,
): (...values: string[]) => Count {
  const created: Series[] = [];
  const description = { name, help: meaning, type: 'counter', aggregator: 'sum' };
  const create = (...values: string[]) => {
    const series = new Series(
      Object.fromEntries(labels.map((label, place) => [label, values[place] ?? ''])),
    );
    created.push(series);
    return series;
  };
  const metric = {
    ...description,
    get: async () => ({
      ...description,
      values: created.map(({ labels, value }) => ({ labels, value })),
    }),
  };
  // Cast: these are the parts of a metric that a registry uses.
  registry.registerMetric(metric as unknown as Metric);
  if (labels.length > 0) return create;
  const only = create();
  return () => only;
}

class Series implements Count {
  readonly labels: Record<string, string>;
  value = 0;

  constructor(labels: Record<string, string>) {
    this.labels = labels;
  }

  inc(more = 1): void {
    this.value += more;
  }
}
