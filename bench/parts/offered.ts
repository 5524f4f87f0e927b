// Throughput and latency against offered load, from a tenth of saturation to above it.
import { requestTemplates } from '../dataset/requests.ts';
import { type OfferedLoad, offer } from '../load/offered.ts';
import type { RawResult } from '../load/raw.ts';
import type { Table } from '../report/outcome.ts';
import { type Spread, shown, spread } from '../report/statistics.ts';
import { underLoad } from '../run/measure.ts';
import { progress } from '../run/progress.ts';
import type { Server } from '../run/server.ts';
import type { Testbed } from '../run/testbed.ts';
import { WARM_UP, warmUp } from '../run/warmup.ts';
import { apollo } from '../variants/apollo.ts';
import { floor } from '../variants/floor.ts';
import { ours } from '../variants/ours.ts';
import type { Variant } from '../variants/variant.ts';
import type { Options, Part } from './part.ts';

const SHARES = [0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.1];
const CONNECTIONS = 128;

/** What was measured at one rate. */
type Point = { offered: number; answered: number; p50Ms: number; p99Ms: number; lagP99Ms: number };

type Run = { testbed: Testbed; options: Options };

export const offered: Part = {
  title: 'Latency against offered load',
  notes: [
    'Requests arrive at random times (Poisson), whether or not the server keeps up. The generator shares its core with the subgraphs; latencies do not include its own lag.',
  ],
  method: ({ seconds, rounds }) =>
    `Load by load/raw.ts, ${seconds} s at each rate, one rate after the other, after ${WARM_UP}; for the ratio ${rounds} rounds at half of saturation`,
  async run(testbed, options) {
    const run = { testbed, options };
    const saturation = await saturationOf(ours, run);
    const stockSaturation = await saturationOf(apollo, run);
    const rates = SHARES.map((share) => Math.round(saturation * share));
    const stockRates = SHARES.map((share) => Math.round(stockSaturation * share));
    const ourPoints = await pointsOf(ours, run, rates);
    const floorPoints = await pointsOf(floor, run, rates);
    const tailToFloor = await tailRatios(run, saturation / 2);
    const stockPoints = await pointsOf(apollo, run, stockRates);
    return {
      tables: [
        table(`${ours.title}, saturated at ${shown(saturation)}/s`, ourPoints),
        table(`${floor.title}, at the same rates`, floorPoints),
        table(`${apollo.title}, saturated at ${shown(stockSaturation)}/s`, stockPoints),
      ],
      figures: { tailToFloor },
    };
  },
};

async function tailRatios(run: Run, rate: number): Promise<Spread> {
  const found: number[] = [];
  for (let round = 0; round < run.options.rounds; round++) {
    const [our] = await pointsOf(ours, run, [rate]);
    const [bare] = await pointsOf(floor, run, [rate]);
    if (our && bare) found.push(our.p99Ms / our.p50Ms / (bare.p99Ms / bare.p50Ms));
  }
  return spread(found);
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
