// Where the gateway's CPU time goes, by package and by function.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { GENERATOR } from '../load/saturate.ts';
import type { Table } from '../report/outcome.ts';
import { shown } from '../report/statistics.ts';
import { readProfile, type SelfTime, selfTimesOf } from '../run/cpuprofile.ts';
import { underLoad, underWork, type Work } from '../run/measure.ts';
import { warmMeasure } from '../run/rounds.ts';
import type { Server } from '../run/server.ts';
import type { Testbed } from '../run/testbed.ts';
import { WARM_UP } from '../run/warmup.ts';
import { ours, oursInOne, startInOne, startRemote } from '../variants/ours.ts';
import { mixWork, startInOneMix, startRemoteMix } from './mix.ts';
import type { Options, Part } from './part.ts';

const SHOWN_FUNCTIONS = 30;
const MIN_SHARE = 0.005;

export const profile: Part = {
  title: 'Profile',
  notes: [
    'Self time of the main thread, without its idle time, scaled to the CPU time of a request, which includes the cost of the profiler.',
  ],
  method: ({ seconds }) => `Load by ${GENERATOR}, once for ${seconds} s after ${WARM_UP}`,
  async run(testbed, options) {
    const lookUps: Profiled[] = [
      { title: ours.title, start: (flags) => startRemote(testbed, { flags }) },
      { title: oursInOne.title, start: (flags) => startInOne(testbed, 10_000, { flags }) },
    ];
    const mixes = [startRemoteMix, startInOneMix].map(
      (start, index): Profiled => ({
        title: `${lookUps[index]?.title}, the mix of reads`,
        start: (flags) => start(testbed, { flags }),
        work: (server) => mixWork(testbed, server, 0),
      }),
    );
    const tables: Table[] = [];
    for (const each of [...lookUps, ...mixes])
      tables.push(...(await profiled(each, testbed, options)));
    return { tables, figures: {} };
  },
};

type Profiled = {
  title: string;
  start(flags: string[]): Promise<Server>;
  /** One look-up by default. */
  work?: (server: Server) => Work;
};

async function profiled(
  { title, start, work }: Profiled,
  testbed: Testbed,
  options: Options,
): Promise<Table[]> {
  const folder = join(testbed.folder, title.replaceAll(/\W/g, ''));
  mkdirSync(folder);
  const server = await start(['--cpu-prof', `--cpu-prof-dir=${folder}`]);
  const { cpuMicros } = await warmMeasure(
    work === undefined ? underLoad(server) : underWork(server, work(server)),
    options,
  );
  const selfTimes = selfTimesOf(readProfile(folder), options.seconds);
  const total = selfTimes.reduce((sum, { micros }) => sum + micros, 0);
  const row = (name: string, micros: number) => [
    name,
    `${shown((micros / total) * 100)} %`,
    shown((micros / total) * cpuMicros),
  ];
  const columns = ['', 'share', 'µs/request'];
  return [
    {
      title: `${title}, by package`,
      columns,
      rows: sumByOwner(selfTimes)
        .filter(([, micros]) => micros / total >= MIN_SHARE)
        .map(([owner, micros]) => row(owner, micros)),
    },
    {
      title: `${title}, by function`,
      columns,
      rows: selfTimes
        .toSorted((a, b) => b.micros - a.micros)
        .slice(0, SHOWN_FUNCTIONS)
        .map(({ owner, name, micros }) => row(`${name} (${owner})`, micros)),
    },
  ];
}

function sumByOwner(selfTimes: readonly SelfTime[]): [owner: string, micros: number][] {
  const sums = new Map<string, number>();
  for (const { owner, micros } of selfTimes) sums.set(owner, (sums.get(owner) ?? 0) + micros);
  return [...sums].sort(([, a], [, b]) => b - a);
}
