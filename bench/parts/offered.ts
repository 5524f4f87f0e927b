// Throughput and latency against offered load: this gateway, the floor and stock Apollo, from a tenth of saturation to above it.

import { checkAnswers } from '../check.ts';
import { requestTexts } from '../http.ts';
import { offer } from '../load/offered.ts';
import type { Driven } from '../load/raw.ts';
import { say } from '../rounds.ts';
import type { Running, Stage } from '../stage.ts';
import { shown, spread } from '../statistics.ts';
import { apollo } from '../variants/apollo.ts';
import { floor } from '../variants/floor.ts';
import { ours } from '../variants/ours.ts';
import type { Variant } from '../variants/variant.ts';
import type { Options, Part } from './part.ts';

const SHARES = [0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.1];
const CONNECTIONS = 128;

type Point = { offered: number; answered: number; p50Ms: number; p99Ms: number; lagP99Ms: number };

export const offered: Part = {
  title: 'Latency against offered load',
  how: ({ seconds, warmUpSeconds, rounds }) =>
    `Load by load/raw.ts, ${seconds} s at each rate, one rate after the other, after ${warmUpSeconds} s of warm-up; for the ratio ${rounds} rounds at half of saturation`,
  async run(stage, options) {
    const saturation = await saturationOf(ours, stage, options);
    const stockSaturation = await saturationOf(apollo, stage, options);
    const rates = SHARES.map((share) => Math.round(saturation * share));
    const tails: number[] = [];
    const own = await course(ours, stage, options, rates);
    const bare = await course(floor, stage, options, rates);
    for (let round = 0; round < options.rounds; round++) {
      const [mine] = await course(ours, stage, options, [saturation / 2]);
      const [its] = await course(floor, stage, options, [saturation / 2]);
      if (mine && its) tails.push(mine.p99Ms / mine.p50Ms / (its.p99Ms / its.p50Ms));
    }
    const stock = await course(
      apollo,
      stage,
      options,
      SHARES.map((share) => Math.round(stockSaturation * share)),
    );
    return {
      tables: [
        table(`${ours.title}, which is saturated at ${shown(saturation)}/s`, own),
        table(`${floor.title}, at the same rates`, bare),
        table(`${apollo.title}, which is saturated at ${shown(stockSaturation)}/s`, stock),
      ],
      figures: { tailToFloor: spread(tails) },
      notes: [
        'Requests arrive at random times (Poisson) whether or not answers keep up. The generator shares its core with the subgraphs; its own lateness is not part of the latencies.',
      ],
    };
  },
};

function table(title: string, points: Point[]) {
  return {
    title,
    columns: [
      'offered/s',
      'answered/s',
      'p50 ms',
      'p99 ms',
      'p99 to p50',
      'generator late, p99 ms',
    ],
    rows: points.map(({ offered, answered, p50Ms, p99Ms, lagP99Ms }) =>
      [offered, answered, p50Ms, p99Ms, p99Ms / p50Ms, lagP99Ms].map(shown),
    ),
  };
}

async function started<T>(
  variant: Variant,
  stage: Stage,
  options: Options,
  use: (running: Running) => Promise<T>,
): Promise<T> {
  const running = await variant.start(stage);
  try {
    await offer({ ...loadOf(running), seconds: options.warmUpSeconds });
    await checkAnswers(running);
    return await use(running);
  } finally {
    await running.stop();
  }
}

async function saturationOf(variant: Variant, stage: Stage, options: Options): Promise<number> {
  const { answered, seconds } = await started(variant, stage, options, (running) =>
    answeredRight(variant, offer({ ...loadOf(running), seconds: options.seconds })),
  );
  return answered / seconds;
}

function course(
  variant: Variant,
  stage: Stage,
  options: Options,
  rates: number[],
): Promise<Point[]> {
  return started(variant, stage, options, async (running) => {
    const points: Point[] = [];
    for (const rate of rates) {
      const load = {
        ...loadOf(running),
        seconds: options.seconds,
        ratePerSecond: rate,
        connections: CONNECTIONS,
      };
      const driven = await answeredRight(variant, offer(load));
      say(
        `${variant.title}: ${Math.round(rate)}/s offered, p50 ${shown(driven.p50Ms)} ms, p99 ${shown(driven.p99Ms)} ms`,
      );
      points.push({ ...driven, offered: rate, answered: driven.answered / driven.seconds });
    }
    return points;
  });
}

async function answeredRight(variant: Variant, driving: Promise<Driven>): Promise<Driven> {
  const driven = await driving;
  if (driven.failed > 0) throw new Error(`${variant.title}: ${driven.failed} wrong answers`);
  return driven;
}

function loadOf(running: Running) {
  return {
    url: running.url,
    texts: requestTexts(running),
    members: running.members,
    connections: 32,
    place: 'load' as const,
  };
}
