// Reads the CPU profiles that V8 writes.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './shipped.ts';

/** As V8 writes it, with times in microseconds. */
export type CpuProfile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
};

/** The self time of one function, and the package it belongs to. */
export type SelfTime = { owner: string; name: string; micros: number };

/**
 * The main thread's profile in a folder. Every thread writes one, tsx's included; the main thread's
 * is the largest.
 */
export function readProfile(folder: string): CpuProfile {
  const [largest = ''] = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .sort((a, b) => b.length - a.length);
  return JSON.parse(largest);
}

/** Self times in the last `seconds`, without idle time: the start and the warm-up do not count. */
export function selfTimesOf(
  { nodes, samples, timeDeltas }: CpuProfile,
  seconds: number,
): SelfTime[] {
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
