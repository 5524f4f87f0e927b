// Where the gateway's CPU time goes, by package and by function.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GENERATOR } from '../load/saturate.ts';
import type { Table } from '../report/outcome.ts';
import { shown } from '../report/statistics.ts';
import { measure } from '../run/measure.ts';
import type { Server } from '../run/server.ts';
import { ROOT } from '../run/shipped.ts';
import type { Testbed } from '../run/testbed.ts';
import { ours, oursInOne, startInOne, startRemote } from '../variants/ours.ts';
import type { Options, Part } from './part.ts';

/** As V8 writes it, with times in microseconds. */
type CpuProfile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
};

/** The self time of one function. */
type SelfTime = { owner: string; name: string; micros: number };

const SHOWN_FUNCTIONS = 30;
const MIN_SHARE = 0.005;

export const profile: Part = {
  title: 'Profile',
  notes: [
    'Self time of the main thread, without its idle time, scaled to the CPU time of a request, which includes the cost of the profiler.',
  ],
  method: ({ seconds, warmUpSeconds }) =>
    `Load by ${GENERATOR}, once for ${seconds} s after ${warmUpSeconds} s of warm-up`,
  async run(testbed, options) {
    const remote = await profiled(ours.title, testbed, options, (flags) =>
      startRemote(testbed, { flags }),
    );
    const inOne = await profiled(oursInOne.title, testbed, options, (flags) =>
      startInOne(testbed, 10_000, { flags }),
    );
    return { tables: [...remote, ...inOne], figures: {} };
  },
};

async function profiled(
  title: string,
  testbed: Testbed,
  options: Options,
  start: (flags: string[]) => Promise<Server>,
): Promise<Table[]> {
  const folder = join(testbed.folder, title.replaceAll(/\W/g, ''));
  mkdirSync(folder);
  const server = await start(['--cpu-prof', `--cpu-prof-dir=${folder}`]);
  const { cpuMicros } = await measure(server, options).finally(() => server.stop());
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

// Each thread writes a file, tsx's too. The main thread's is the largest.
function readProfile(folder: string): CpuProfile {
  const [largest = ''] = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .sort((a, b) => b.length - a.length);
  return JSON.parse(largest);
}

function sumByOwner(selfTimes: readonly SelfTime[]): [owner: string, micros: number][] {
  const sums = new Map<string, number>();
  for (const { owner, micros } of selfTimes) sums.set(owner, (sums.get(owner) ?? 0) + micros);
  return [...sums].sort(([, a], [, b]) => b - a);
}

/** Self times of the last seconds, without idle time and without the start and warm-up before them. */
function selfTimesOf({ nodes, samples, timeDeltas }: CpuProfile, seconds: number): SelfTime[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const found = new Map<string, SelfTime>();
  let left = seconds * 1e6;
  for (let at = samples.length - 1; at >= 0 && left > 0; at--) {
    const micros = timeDeltas[at] ?? 0;
    left -= micros;
    const { functionName = '', url = '', lineNumber = 0 } = frames.get(samples[at] ?? 0) ?? {};
    if (functionName === '(idle)') continue;
    // tsx compiles each file to one line, whose number would say nothing.
    const name = `${functionName || 'anonymous'}${lineNumber > 0 ? `:${lineNumber + 1}` : ''}`;
    const key = `${name} ${url}`;
    const selfTime = found.get(key) ?? { owner: ownerOf(url, functionName), name, micros: 0 };
    selfTime.micros += micros;
    found.set(key, selfTime);
  }
  return [...found.values()];
}

function ownerOf(url: string, functionName: string): string {
  if (url === '') return functionName.startsWith('(') ? functionName : 'built into V8 and Node';
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  if (!url.startsWith('file:')) return 'compiled queries';
  const path = fileURLToPath(url);
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return name ?? path.replace(`${ROOT}/`, '').split('/src/').join('/');
}
