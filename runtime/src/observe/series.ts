// Metrics that are cheap to feed and to write: they count on their own, and make text on demand.
import type { MaybePromise } from '../maybe.ts';

export type MetricRow = { name: string; labels: readonly string[]; meaning: string };

/** The values of the labels. */
type Values = readonly [first?: string | number | undefined, second?: string];

/** Writes a metric with all its series in Prometheus' text format. */
export type WriteMetric = () => Promise<string>;

/**
 * The count for one value of each label. An increment takes a few nanoseconds. prom-client's own
 * counter hashes the labels each time and takes 0.1 to 0.3 µs, and a request counts four times.
 */
export class CountedSeries {
  private readonly beginning: string;
  private value = 0;

  constructor(name: string, labels: string) {
    this.beginning = name + inBraces(labels);
  }

  inc(more = 1): void {
    this.value += more;
  }

  text(): string {
    return `${this.beginning} ${this.value}\n`;
  }
}

const BOUNDS_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/**
 * The observations for one value of each label. An observation takes 0.02 µs. prom-client's own
 * histogram hashes the labels each time and takes 0.5 µs, and as long to write a line, of which
 * there can be 50,000.
 */
export class ObservedSeries {
  private readonly name: string;
  private readonly labels: string;
  /** How many observations were above the previous bound and within this one; last, above all. */
  private readonly counts = new Array<number>(BOUNDS_SECONDS.length + 1).fill(0);
  private sum = 0;

  constructor(name: string, labels: string) {
    this.name = name;
    this.labels = labels;
  }

  observe(seconds: number): void {
    let place = 0;
    while (seconds > (BOUNDS_SECONDS[place] ?? Number.POSITIVE_INFINITY)) place++;
    this.counts[place] = (this.counts[place] ?? 0) + 1;
    this.sum += seconds;
  }

  /** Each bucket counts all observations within its bound. */
  text(): string {
    const { name, labels, sum } = this;
    let count = 0;
    let text = '';
    this.counts.forEach((more, place) => {
      count += more;
      text += `${name}_bucket{le="${BOUNDS_SECONDS[place] ?? '+Inf'}",${labels}} ${count}\n`;
    });
    return `${text}${name}_sum{${labels}} ${sum}\n${name}_count{${labels}} ${count}\n`;
  }
}

/** Values by their labels. */
export type Readings = Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>;

export type ReadGauge = () => MaybePromise<Readings>;

/** Adds a gauge to the metrics, and returns a function that adds a source of its values. */
export function createGauge(row: MetricRow, metrics: WriteMetric[]): (read: ReadGauge) => void {
  const sources: ReadGauge[] = [];
  metrics.push(async () => {
    const read = await Promise.all(sources.map((source) => source()));
    const lines = read.flatMap((readings) =>
      Array.from(
        readings,
        ([labels, value]) => `${row.name}${inBraces(labelText(Object.entries(labels)))} ${value}\n`,
      ),
    );
    return headOf('gauge', row) + lines.join('');
  });
  return (read) => void sources.push(read);
}

const PEAK_MS = 60_000;

/**
 * Adds a gauge with one label to the metrics, and returns a function that notes a value. The gauge
 * has the highest value of this minute and the one before.
 */
export function createPeaks(
  row: MetricRow,
  metrics: WriteMetric[],
): (label: string, value: number) => void {
  const [name = ''] = row.labels;
  let minute = 0;
  let [peaks, before] = [new Map<string, number>(), new Map<string, number>()];

  function beginMinute(): void {
    const now = Math.floor(performance.now() / PEAK_MS);
    if (now === minute) return;
    before = now === minute + 1 ? peaks : new Map();
    peaks = new Map();
    minute = now;
  }

  const addSource = createGauge(row, metrics);
  addSource(() => {
    beginMinute();
    return Array.from(new Set([...before.keys(), ...peaks.keys()]), (label) => {
      const value = Math.max(before.get(label) ?? 0, peaks.get(label) ?? 0);
      return [{ [name]: label }, value] as const;
    });
  });
  return (label, value) => {
    beginMinute();
    if (value >= (peaks.get(label) ?? 0)) peaks.set(label, value);
  };
}

/**
 * Adds a metric, and returns a function that finds or creates a series by up to two label values:
 * creating one costs more than using it. Those in `row.series` exist from the start.
 */
export function createSeries<Series extends { text(): string }>(
  type: 'counter' | 'histogram',
  row: MetricRow & { series?: readonly Values[] },
  metrics: WriteMetric[],
  OneSeries: new (name: string, labels: string) => Series,
): (...values: Values) => Series {
  const created: Series[] = [];
  metrics.push(async () => headOf(type, row) + created.map((each) => each.text()).join(''));
  const known = new Map<Values[0], Map<Values[1], Series>>();
  const seriesOf = (first: Values[0], second: Values[1]): Series => {
    let bySecond = known.get(first);
    if (bySecond === undefined) {
      bySecond = new Map();
      known.set(first, bySecond);
    }
    let series = bySecond.get(second);
    if (series === undefined) {
      const values = [first, second];
      const labels = row.labels.map((label, place) => [label, `${values[place]}`] as const);
      series = new OneSeries(row.name, labelText(labels));
      created.push(series);
      bySecond.set(second, series);
    }
    return series;
  };
  for (const [first, second] of row.series ?? []) seriesOf(first, second);
  return seriesOf;
}

function headOf(type: string, { name, meaning }: MetricRow): string {
  return `# HELP ${name} ${meaning}\n# TYPE ${name} ${type}\n`;
}

/** JSON escapes as Prometheus' format does; no value has control characters. */
function labelText(labels: readonly (readonly [name: string, value: string])[]): string {
  return labels.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join();
}

function inBraces(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}
