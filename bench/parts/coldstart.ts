// Cold start: from the start of a process to its first correct answer; and its memory when idle.
import { setTimeout as pause } from 'node:timers/promises';
import { ratios, shown, shownSpread, spread } from '../report/outcome.ts';
import { progress } from '../run/progress.ts';
import { orderOf } from '../run/rounds.ts';
import type { Server } from '../run/server.ts';
import type { Testbed } from '../run/testbed.ts';
import { ours, startInOne } from '../variants/ours.ts';
import { apollo, floor, mercurius, type Variant } from '../variants/peers.ts';
import type { Part } from './part.ts';

type Started = Pick<Variant, 'title' | 'start'>;
type Starts = { variant: Started; ms: number[]; cpuSeconds: number[]; rssMb: number[] };

const STARTS = 5;
const IDLE_SECONDS = 10;

export const coldstart: Part = {
  title: 'Cold start and idle memory',
  notes: [
    "Memory is resident memory. File pages are pages of programs, libraries and stores, which the kernel can drop, and memory that is shared. Those of the embedded store's file are among them.",
  ],
  method: () =>
    `One request for each start; variants start in turns, in changing order; CPU seconds until the first correct answer, with those of child processes. For the memory, all run at once, ${IDLE_SECONDS} s after the last of them has started`,
  async run(testbed, options) {
    const members = options.quick ? 1_000 : 100_000;
    const inOne: Started = {
      title: `This service in one process, ${members.toLocaleString('en-US')} members, without Redis`,
      start: (at) => startInOne(at, members, { redis: false }),
    };
    const variants = [ours, inOne, apollo, mercurius, floor];
    const all = await startInTurns(testbed, variants, options.quick ? 2 : STARTS);
    const msOf = (wanted: Started) => all.find(({ variant }) => variant === wanted)?.ms ?? [];
    const toStock = (wanted: Started) => ratios(msOf(wanted), msOf(apollo));
    const idle = await idleMemory(testbed, variants);
    return {
      tables: [
        {
          title: `${msOf(apollo).length} starts, with warm file caches`,
          columns: ['', 'first correct answer, ms', 'to stock', 'CPU seconds', 'memory then, MB'],
          rows: all.map(({ variant, ms, cpuSeconds, rssMb }) => [
            variant.title,
            shownSpread(spread(ms)),
            shown(toStock(variant).median),
            shownSpread(spread(cpuSeconds)),
            shownSpread(spread(rssMb)),
          ]),
        },
        {
          title: `Idle, ${IDLE_SECONDS} s after the start`,
          columns: ['', 'memory MB', 'of it file pages'],
          rows: idle.map(({ rssMb, fileMb }, index) => [
            variants[index]?.title ?? '',
            ...[rssMb, fileMb].map(shown),
          ]),
        },
      ],
      figures: {
        coldStart: toStock(ours),
        coldStartInOne: toStock(inOne),
        idleMemory: spread([idle[variants.indexOf(inOne)]?.rssMb ?? Number.NaN]),
      },
    };
  },
};

async function startInTurns(
  testbed: Testbed,
  variants: readonly Started[],
  starts: number,
): Promise<Starts[]> {
  const all = variants.map((variant): Starts => ({ variant, ms: [], cpuSeconds: [], rssMb: [] }));
  for (let round = 0; round < starts; round++) {
    for (const { variant, ms, cpuSeconds, rssMb } of orderOf(all, round, starts)) {
      const server = await variant.start(testbed);
      const usage = server.usage();
      await server.stop();
      ms.push(server.readyMs);
      cpuSeconds.push(usage.cpuSeconds);
      rssMb.push(usage.rssMb);
      progress(`start ${round + 1}: ${variant.title}: ${Math.round(server.readyMs)} ms`);
    }
  }
  return all;
}

/** The memory of each variant, all of which run at once. */
async function idleMemory(testbed: Testbed, variants: readonly Started[]) {
  const servers: Server[] = [];
  try {
    for (const { start } of variants) servers.push(await start(testbed));
    await pause(IDLE_SECONDS * 1_000);
    return servers.map((server) => server.usage());
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()));
  }
}
