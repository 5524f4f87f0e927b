// Throughput and latency against offered load, from a tenth of saturation to above it.
import { randomLookUps } from '../dataset/requests.ts';
import { sendRaw } from '../load/raw.ts';
import { ratios, type Spread, shown, shownSpread, spread, type Table } from '../report/outcome.ts';
import { underLoad, underRawLoad } from '../run/measure.ts';
import { type Contender, cell, type Measurements, values } from '../run/measurements.ts';
import { progress } from '../run/progress.ts';
import { measureAlternating, type Rounds, WARM_UP, warmUp } from '../run/rounds.ts';
import type { Testbed } from '../run/testbed.ts';
import { ours } from '../variants/ours.ts';
import { floor, type Variant } from '../variants/peers.ts';
import type { Part } from './part.ts';

const SHARES = [0.1, 0.5, 0.9, 1, 1.1];
const CONNECTIONS = { saturated: 32, atRate: 128 };

/** What was measured at one rate. */
type Point = { offered: number; answered: number; p50Ms: number; p99Ms: number; lagP99Ms: number };

type Run = { testbed: Testbed; options: Rounds };

/** Ratios of ours to the floor's, in each round: of p99, and of p99 to p50. */
type SideBySide = { table: Table; p99: Spread; tail: Spread };

export const offered: Part = {
  title: 'Latency against offered load',
  notes: [
    'Requests arrive at random times (Poisson), whether or not the server keeps up. The generator shares its core with the subgraphs; latencies do not include its own lag.',
  ],
  method: ({ seconds, rounds }) =>
    `Load by load/raw.ts, ${seconds} s at each rate, one rate after the other, after ${WARM_UP}, without the first request of each connection; at a tenth and at half of saturation also ${rounds} rounds in which both run at once and take turns of one second, ${seconds} each, after the same warm-up, but with every other second at the measured rate`,
  async run(testbed, options) {
    const run = { testbed, options };
    const saturation = await saturationOf(ours, run);
    const rates = SHARES.map((share) => Math.round(saturation * share));
    const ourPoints = await pointsOf(ours, run, rates);
    const tenth = await sideBySide(run, saturation / 10);
    const half = await sideBySide(run, saturation / 2);
    return {
      tables: [
        table(`${ours.title}, saturated at ${shown(saturation)}/s`, ourPoints),
        tenth.table,
        half.table,
      ],
      figures: { tenthToFloor: tenth.p99, tailToFloor: half.tail },
    };
  },
};

/** Ours and the floor at the same rate, in turns. */
async function sideBySide({ testbed, options }: Run, ratePerSecond: number): Promise<SideBySide> {
  const contenders = [ours, floor].map(
    ({ title, start }): Contender => ({
      title,
      async start(at) {
        const server = await start(at);
        return underRawLoad(server, {
          next: randomLookUps(server),
          connections: 32,
          ratePerSecond,
        });
      },
    }),
  );
  const all = await measureAlternating(testbed, contenders, options);
  const [our, bare] = all;
  return {
    table: {
      title: `In turns, both at ${shown(ratePerSecond)}/s`,
      columns: ['', 'p50 ms', 'p99 ms', 'p99 to p50', 'CPU µs/request'],
      rows: all.map((each) => [
        each.contender.title,
        cell(each, 'p50Ms'),
        cell(each, 'p99Ms'),
        shownSpread(spread(tails(each))),
        cell(each, 'cpuMicros'),
      ]),
    },
    p99: ratios(values(our, 'p99Ms'), values(bare, 'p99Ms')),
    tail: ratios(tails(our), tails(bare)),
  };
}

/** p99 to p50, in each round. */
function tails(measurements: Measurements | undefined): number[] {
  const medians = values(measurements, 'p50Ms');
  return values(measurements, 'p99Ms').map((p99Ms, round) => p99Ms / (medians[round] ?? NaN));
}

async function saturationOf(variant: Variant, run: Run): Promise<number> {
  const [point] = await pointsOf(variant, run, [undefined]);
  return point?.answered ?? Number.NaN;
}

/** Without a rate, each request is sent as soon as a connection is free. */
async function pointsOf(
  { title, start }: Variant,
  { testbed, options }: Run,
  rates: readonly (number | undefined)[],
): Promise<Point[]> {
  const server = await start(testbed);
  const load = { url: server.url, next: randomLookUps(server), seconds: options.seconds };
  try {
    await warmUp([underLoad(server)], options);
    const points: Point[] = [];
    for (const rate of rates) {
      const { saturated, atRate } = CONNECTIONS;
      const result = await (rate === undefined
        ? sendRaw({ ...load, connections: saturated })
        : sendRaw({ ...load, connections: atRate, ratePerSecond: rate }));
      if (result.failed > 0) throw new Error(`${title}: failed requests: ${result.failed}`);
      const { answered, seconds, p50Ms, p99Ms, lagP99Ms } = result;
      const latencies = `p50 ${shown(p50Ms)} ms, p99 ${shown(p99Ms)} ms`;
      progress(`${title}: ${rate ?? 'all it takes'}/s offered, ${latencies}`);
      points.push({
        offered: rate ?? Number.NaN,
        answered: answered / seconds,
        p50Ms,
        p99Ms,
        lagP99Ms,
      });
    }
    return points;
  } finally {
    await server.stop();
  }
}

function table(title: string, points: Point[]): Table {
  return {
    title,
    columns: ['offered/s', 'answered/s', 'p50 ms', 'p99 ms', 'p99 to p50', 'generator lag, p99 ms'],
    rows: points.map(({ offered, answered, p50Ms, p99Ms, lagP99Ms }) =>
      [offered, answered, p50Ms, p99Ms, p99Ms / p50Ms, lagP99Ms].map(shown),
    ),
  };
}
