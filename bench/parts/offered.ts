// Throughput and latency against offered load, from a tenth of saturation to above it.
import { aboutRandomMembers, requestTemplates } from '../dataset/requests.ts';
import { type OfferedLoad, offer } from '../load/offered.ts';
import type { RawResult } from '../load/raw.ts';
import { ratios, type Spread, shown, shownSpread, spread, type Table } from '../report/outcome.ts';
import { underLoad, underRawLoad } from '../run/measure.ts';
import { type Contender, type Measurements, values } from '../run/measurements.ts';
import { progress } from '../run/progress.ts';
import { measureAlternating, WARM_UP, warmUp } from '../run/rounds.ts';
import type { Server } from '../run/server.ts';
import type { Testbed } from '../run/testbed.ts';
import { ours } from '../variants/ours.ts';
import { apollo, floor, type Variant } from '../variants/peers.ts';
import type { Options, Part } from './part.ts';

const SHARES = [0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.1];
const CONNECTIONS = 128;

/** What was measured at one rate. */
type Point = { offered: number; answered: number; p50Ms: number; p99Ms: number; lagP99Ms: number };

type Run = { testbed: Testbed; options: Options };

/** Ratios of ours to the floor's, in each round: of p99, and of p99 to p50. */
type SideBySide = { table: Table; p99: Spread; tail: Spread };

export const offered: Part = {
  title: 'Latency against offered load',
  notes: [
    'Requests arrive at random times (Poisson), whether or not the server keeps up. The generator shares its core with the subgraphs; latencies do not include its own lag.',
  ],
  method: ({ seconds, rounds }) =>
    `Load by load/raw.ts, ${seconds} s at each rate, one rate after the other, after ${WARM_UP}; at a tenth and at half of saturation also ${rounds} rounds in which both run at once and take turns of one second, ${seconds} each, without the first request of each connection, after the same warm-up, but with every other second at the measured rate`,
  async run(testbed, options) {
    const run = { testbed, options };
    const saturation = await saturationOf(ours, run);
    const stockSaturation = await saturationOf(apollo, run);
    const rates = SHARES.map((share) => Math.round(saturation * share));
    const stockRates = SHARES.map((share) => Math.round(stockSaturation * share));
    const ourPoints = await pointsOf(ours, run, rates);
    const floorPoints = await pointsOf(floor, run, rates);
    const tenth = await sideBySide(run, saturation / 10);
    const half = await sideBySide(run, saturation / 2);
    const stockPoints = await pointsOf(apollo, run, stockRates);
    return {
      tables: [
        table(`${ours.title}, saturated at ${shown(saturation)}/s`, ourPoints),
        table(`${floor.title}, at the same rates`, floorPoints),
        table(`${apollo.title}, saturated at ${shown(stockSaturation)}/s`, stockPoints),
        tenth.table,
        half.table,
      ],
      figures: { tenthToFloor: tenth.p99, tailToFloor: half.tail },
    };
  },
};

/** Ours and the floor at the same rate, in turns. */
async function sideBySide({ testbed, options }: Run, rate: number): Promise<SideBySide> {
  const contenders = [ours, floor].map(
    ({ title, start }): Contender => ({
      title,
      async start(at) {
        const server = await start(at);
        const [template = ''] = requestTemplates(server);
        const next = () => aboutRandomMembers(template, server.members);
        return underRawLoad(server, { next, connections: 32, ratePerSecond: rate });
      },
    }),
  );
  const all = await measureAlternating(testbed, contenders, options);
  const [our, bare] = all;
  return {
    table: {
      title: `In turns, both at ${shown(rate)}/s`,
      columns: ['', 'p50 ms', 'p99 ms', 'p99 to p50', 'CPU µs/request'],
      rows: all.map((each) => [
        each.contender.title,
        shownSpread(spread(values(each, 'p50Ms'))),
        shownSpread(spread(values(each, 'p99Ms'))),
        shownSpread(spread(tails(each))),
        shownSpread(spread(values(each, 'cpuMicros'))),
      ]),
    },
    p99: ratios(values(our, 'p99Ms'), values(bare, 'p99Ms')),
    tail: ratios(tails(our), tails(bare)),
  };
}

/** p99 to p50, in each round. */
function tails(measurements: Measurements<Contender> | undefined): number[] {
  const medians = values(measurements, 'p50Ms');
  return values(measurements, 'p99Ms').map((p99Ms, round) => p99Ms / (medians[round] ?? NaN));
}

async function saturationOf(variant: Variant, run: Run): Promise<number> {
  const { answered, seconds } = await withWarm(variant, run, (server) =>
    offerTo(variant, { ...loadOf(server), seconds: run.options.seconds }),
  );
  return answered / seconds;
}

function pointsOf(variant: Variant, run: Run, rates: number[]): Promise<Point[]> {
  return withWarm(variant, run, async (server) => {
    const points: Point[] = [];
    for (const rate of rates) {
      const result = await offerTo(variant, {
        ...loadOf(server),
        seconds: run.options.seconds,
        ratePerSecond: rate,
        connections: CONNECTIONS,
      });
      progress(
        `${variant.title}: ${Math.round(rate)}/s offered, p50 ${shown(result.p50Ms)} ms, p99 ${shown(result.p99Ms)} ms`,
      );
      points.push({ ...result, offered: rate, answered: result.answered / result.seconds });
    }
    return points;
  });
}

/** Starts the variant, warms it up, uses it and stops it. */
async function withWarm<T>(
  variant: Variant,
  { testbed, options }: Run,
  use: (server: Server) => Promise<T>,
): Promise<T> {
  const server = await variant.start(testbed);
  try {
    await warmUp([underLoad(server)], options);
    return await use(server);
  } finally {
    await server.stop();
  }
}

async function offerTo(variant: Variant, load: OfferedLoad): Promise<RawResult> {
  const result = await offer(load);
  if (result.failed > 0) throw new Error(`${variant.title}: failed requests: ${result.failed}`);
  return result;
}

function loadOf(server: Server) {
  return {
    url: server.url,
    templates: requestTemplates(server),
    members: server.members,
    connections: 32,
    cores: 'load' as const,
  };
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
