// What each feature costs: each switched on by itself over a gateway without any, then all together.
import { join } from 'node:path';
import { makeKeys, storesOf } from '../data.ts';
import type { Feature } from '../features.ts';
import { GENERATOR } from '../load/load.ts';
import { type Contender, type Course, measureAlternating, median, series } from '../rounds.ts';
import { ENV_FILE, ROOT, type Stage } from '../stage.ts';
import { type Spread, shown, shownSpread, spread } from '../statistics.ts';
import type { Part } from './part.ts';

type Mix = Contender & { on: Feature[]; redis: boolean };

const ALL: Feature[] = ['auth', 'limit', 'logs', 'metrics'];
const base = mix('none', [], false);
const together = mix('all, limit in this process', ALL, false);
const togetherRedis = mix('all, limit in Redis', ALL, true);
const MIXES: Mix[] = [
  base,
  mix('auth', ['auth'], false),
  mix('limit in this process', ['limit'], false),
  mix('limit in Redis', ['limit'], true),
  mix('logs', ['logs'], false),
  mix('metrics', ['metrics'], false),
  together,
  togetherRedis,
];

export const features: Part = {
  title: 'Cost of each feature',
  how: ({ seconds, warmUpSeconds, rounds }) =>
    `Load by ${GENERATOR}, ${rounds} rounds in which all run at once and are loaded by turns for a second, ${seconds} times each, after ${warmUpSeconds} s of warm-up`,
  async run(stage, options) {
    const courses = await measureAlternating(stage, MIXES, options);
    const find = (wanted: Mix) => courses.find(({ contender }) => contender === wanted);
    const added = (course: Course<Mix> | undefined): Spread => {
      const without = series(find(base), 'cpuMicros');
      return spread(
        series(course, 'cpuMicros').map((value, round) => value - (without[round] ?? Number.NaN)),
      );
    };
    return {
      tables: [
        {
          title: 'The gateway with both subgraphs in its process, answering from memory',
          columns: ['on', 'CPU µs/request', 'added µs', 'requests/s'],
          rows: courses.map((course) => [
            course.contender.title,
            shownSpread(spread(series(course, 'cpuMicros'))),
            course.contender === base ? '' : shownSpread(added(course)),
            shown(median(course, 'perSecond')),
          ]),
        },
      ],
      figures: { featuresRedis: added(find(togetherRedis)), featuresMemory: added(find(together)) },
      notes: [
        'The request id is made by the HTTP server and cannot be switched off; it is in every row. What the limit costs Redis itself is not counted.',
        'Requests of one turn wait for its end in every row, as the limit has them do: that alone saves more than the limit costs.',
      ],
    };
  },
};

function mix(title: string, on: Feature[], redis: boolean): Mix {
  return {
    title,
    on,
    redis,
    async start(stage: Stage) {
      const stores = storesOf(0);
      const keys = await makeKeys(stores, 1);
      const redisUrl = redis ? await stage.redisUrl() : undefined;
      const options = { on, redisUrl, dataDir: stores.dataDir };
      const flags = [ENV_FILE, '--import', 'tsx', join(ROOT, 'bench/features.ts')];
      return stage.serve({
        args: (port) => [...flags, JSON.stringify({ port, ...options })],
        keys,
      });
    },
  };
}
