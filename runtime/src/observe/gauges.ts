// Gauges whose values are read when metrics are, so that they cost nothing in between.
import type { Metric, MetricValue, Registry } from 'prom-client';
import type { MaybePromise } from '../maybe.ts';

/** Values by their labels. */
export type Readings = Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>;

export type ReadGauge = () => MaybePromise<Readings>;

/** Adds a gauge to the registry, and returns a function that adds a source of its values. */
export function createGauge(
  row: { name: string; meaning: string },
  registry: Registry,
): (read: ReadGauge) => void {
  const { name, meaning } = row;
  const sources: ReadGauge[] = [];
  const description = { name, help: meaning, type: 'gauge' };
  const metric = {
    ...description,
    async get() {
      const read = await Promise.all(sources.map((source) => source()));
      const values: MetricValue<string>[] = read.flatMap((readings) =>
        Array.from(readings, ([labels, value]) => ({ labels, value })),
      );
      return { ...description, values };
    },
  };
  // Cast: these are the parts of a metric that a registry uses.
  registry.registerMetric(metric as unknown as Metric);
  return (read) => void sources.push(read);
}
