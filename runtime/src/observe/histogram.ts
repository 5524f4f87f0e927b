// A histogram that is cheap to feed: it counts on its own and reports to prom-client on demand.
import type { MetricValue, Registry } from 'prom-client';
import { createSeries, type Labels } from './series.ts';

const BOUNDS_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/**
 * Adds a histogram to the registry, and returns a function that creates the series for given label
 * values. An observation takes 0.02 µs. prom-client's own histogram hashes the labels each time and
 * takes 0.5 µs.
 */
export function createHistogram(
  row: { name: string; meaning: string; labels: readonly string[] },
  registry: Registry,
): (...values: string[]) => Series {
  return createSeries(
    'histogram',
    row,
    registry,
    (labels) => new Series(labels),
    (created) => created.flatMap((each) => each.values(row.name)),
  );
}

/** The observations for one value of each label. */
export class Series {
  private readonly labels: Labels;
  /** How many observations were above the previous bound and within this one; last, above all. */
  private readonly counts = new Array<number>(BOUNDS_SECONDS.length + 1).fill(0);
  private sum = 0;

  constructor(labels: Labels) {
    this.labels = labels;
  }

  observe(seconds: number): void {
    let place = 0;
    while (seconds > (BOUNDS_SECONDS[place] ?? Number.POSITIVE_INFINITY)) place++;
    this.counts[place] = (this.counts[place] ?? 0) + 1;
    this.sum += seconds;
  }

  /** In Prometheus' form, in which each bucket counts all observations within its bound. */
  values(name: string): (MetricValue<string> & { metricName: string })[] {
    const { labels, sum } = this;
    let count = 0;
    const buckets = this.counts.map((more, place) => {
      count += more;
      return {
        metricName: `${name}_bucket`,
        labels: { le: BOUNDS_SECONDS[place] ?? '+Inf', ...labels },
        value: count,
      };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
