// Where the time goes: a CPU profile of this gateway under full load, by package and by function.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GENERATOR } from '../load/load.ts';
import { measure } from '../measure.ts';
import { ROOT, type Running, type Stage } from '../stage.ts';
import { shown } from '../statistics.ts';
import { type Changes, startInOne, startRemote } from '../variants/ours.ts';
import type { Options, Part, Table } from './part.ts';

/** As V8 writes it: times in microseconds. */
type CpuProfile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
};

type Place = { owner: string; name: string; micros: number };

const FUNCTIONS = 30;
const LEAST_SHARE = 0.005;

export const profile: Part = {
  title: 'Profile',
  how: ({ seconds, warmUpSeconds }) =>
    `Load by ${GENERATOR}, once ${seconds} s after ${warmUpSeconds} s of warm-up`,
  async run(stage, options) {
    const tables = [
      ...(await profiled('This gateway, everything on', stage, options, (changes) =>
        startRemote(stage, changes),
      )),
      ...(await profiled('This service in one process', stage, options, (changes) =>
        startInOne(stage, 10_000, changes),
      )),
    ];
    return {
      tables,
      figures: {},
      notes: [
        'Self time of the main thread without its idle time, scaled to the CPU time of a request, which the profiler itself makes dearer.',
      ],
    };
  },
};

async function profiled(
  title: string,
  stage: Stage,
  options: Options,
  start: (changes: Changes) => Promise<Running>,
): Promise<Table[]> {
  const folder = join(stage.folder, title.replaceAll(/\W/g, ''));
  mkdirSync(folder);
  const running = await start({ flags: ['--cpu-prof', `--cpu-prof-dir=${folder}`] });
  const { cpuMicros } = await measure(running, options).finally(() => running.stop());
  // The largest is the main thread's; tsx has a thread of its own that writes one too.
  const [file = ''] = readdirSync(folder)
    .map((name) => join(folder, name))
    .sort((a, b) => readFileSync(b).length - readFileSync(a).length);
  const places = placesOf(JSON.parse(readFileSync(file, 'utf8')), options.seconds);
  const total = places.reduce((sum, { micros }) => sum + micros, 0);
  const row = (name: string, micros: number) => [
    name,
    `${shown((micros / total) * 100)} %`,
    shown((micros / total) * cpuMicros),
  ];
  const sums = new Map<string, number>();
  for (const { owner, micros } of places) sums.set(owner, (sums.get(owner) ?? 0) + micros);
  return [
    {
      title: `${title}, by package`,
      columns: ['', 'share', 'µs/request'],
      rows: [...sums]
        .filter(([, micros]) => micros / total >= LEAST_SHARE)
        .sort(([, a], [, b]) => b - a)
        .map(([owner, micros]) => row(owner, micros)),
    },
    {
      title: `${title}, by function`,
      columns: ['', 'share', 'µs/request'],
      rows: places
        .sort((a, b) => b.micros - a.micros)
        .slice(0, FUNCTIONS)
        .map(({ owner, name, micros }) => row(`${name} (${owner})`, micros)),
    },
  ];
}

/** Self times, idle ones left out, of the last seconds, before which the process started and warmed up. */
function placesOf({ nodes, samples, timeDeltas }: CpuProfile, seconds: number): Place[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const places = new Map<string, Place>();
  let left = seconds * 1e6;
  for (let at = samples.length - 1; at >= 0 && left > 0; at--) {
    const micros = timeDeltas[at] ?? 0;
    left -= micros;
    const { functionName = '', url = '', lineNumber = 0 } = frames.get(samples[at] ?? 0) ?? {};
    const owner = ownerOf(url, functionName);
    if (functionName === '(idle)') continue;
    // tsx makes one line of each file.
    const name = `${functionName || 'anonymous'}${lineNumber > 0 ? `:${lineNumber + 1}` : ''}`;
    const place = places.get(`${name} ${url}`) ?? { owner, name, micros: 0 };
    place.micros += micros;
    places.set(`${name} ${url}`, place);
  }
  return [...places.values()];
}

function ownerOf(url: string, functionName: string): string {
  if (url === '') return functionName.startsWith('(') ? functionName : 'built into V8 and Node';
  if (!url.startsWith('file:'))
    return url.startsWith('node:') ? url.split('/').slice(0, 2).join('/') : 'compiled queries';
  const path = fileURLToPath(url);
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return name ?? path.replace(`${ROOT}/`, '').split('/src/').join('/');
}
