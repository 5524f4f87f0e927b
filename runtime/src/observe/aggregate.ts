// Adds up the metrics of several processes.
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';

/** A process's metrics as data that survives JSON. */
export type MetricsData = MetricObjectWithValues<MetricValue<string>>[];

/** The text of `/metrics` for several processes that share a port. */
export function mergeMetrics(processes: MetricsData[]): Promise<string> {
  return AggregatorRegistry.aggregate(processes).metrics();
}

/** What processes that have ended leave to the sum: everything that only grows, but no gauges. */
export async function sumOfEnded(processes: MetricsData[]): Promise<MetricsData> {
  const sum: MetricsData = await AggregatorRegistry.aggregate(processes).getMetricsAsJSON();
  // prom-client declares `type` as an enum of numbers, but it holds the word.
  return sum.filter(({ type }) => String(type) !== 'gauge');
}
