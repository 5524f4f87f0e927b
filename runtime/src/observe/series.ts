// Metrics that are cheap to feed: their series count on their own, and report on demand.
import type { Metric, Registry } from 'prom-client';

/** The value of each label of a series. */
export type Labels = Record<string, string>;

/**
 * Adds a metric to the registry, and returns a function that creates its series for given label
 * values. `valuesOf` gives what all its series report, in prom-client's form.
 */
export function createSeries<S>(
  type: 'counter' | 'histogram',
  { name, meaning, labels }: { name: string; meaning: string; labels: readonly string[] },
  registry: Registry,
  create: (labels: Labels) => S,
  valuesOf: (created: readonly S[]) => object[],
): (...values: string[]) => S {
  const created: S[] = [];
  const description = { name, help: meaning, type };
  const metric = {
    ...description,
    get: async () => ({ ...description, values: valuesOf(created) }),
  };
  // Cast: these are the parts of a metric that a registry uses.
  registry.registerMetric(metric as unknown as Metric);
  return (...values) => {
    const series = create(
      Object.fromEntries(labels.map((label, place) => [label, values[place] ?? ''])),
    );
    created.push(series);
    return series;
  };
}
