// Reads the CPU profiles that V8 writes.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './shipped.ts';

/** As V8 writes it, with times in microseconds. */
export type CpuProfile = {
  nodes: { id: number; callFrame: CallFrame }[];
  samples: number[];
  timeDeltas: number[];
};

/** Lines and columns count from 0. */
type CallFrame = { functionName: string; url: string; lineNumber: number; columnNumber: number };

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
  const sourceOf = createSourceOf();
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, sourceOf(callFrame)]));
  const found = new Map<string, SelfTime>();
  let left = seconds * 1e6;
  for (let at = samples.length - 1; at >= 0 && left > 0; at--) {
    const micros = timeDeltas[at] ?? 0;
    left -= micros;
    const { functionName = '', url = '', lineNumber = 0 } = frames.get(samples[at] ?? 0) ?? {};
    if (functionName === '(idle)') continue;
    const name = `${functionName || 'anonymous'}${lineNumber > 0 ? `:${lineNumber + 1}` : ''}`;
    const key = `${name} ${url}`;
    const selfTime = found.get(key) ?? { owner: ownerOf(url, functionName), name, micros: 0 };
    selfTime.micros += micros;
    found.set(key, selfTime);
  }
  return [...found.values()];
}

/** Returns the position of a bundled function in its source file, from the source maps. */
function createSourceOf(): (frame: CallFrame) => CallFrame {
  const maps = new Map<string, SourceMap | undefined>();
  return (frame) => {
    const { url, lineNumber, columnNumber } = frame;
    if (!maps.has(url)) maps.set(url, readMap(url));
    const entry = maps.get(url)?.findEntry(lineNumber, columnNumber);
    if (entry === undefined || !('originalSource' in entry)) return frame;
    const source = new URL(entry.originalSource, url).href;
    return { ...frame, url: source, lineNumber: entry.originalLine };
  };
}

function readMap(url: string): SourceMap | undefined {
  const file = url.startsWith('file:') ? `${fileURLToPath(url)}.map` : '';
  return existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}

function ownerOf(url: string, functionName: string): string {
  if (url === '') return functionName.startsWith('(') ? functionName : 'built into V8 and Node';
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  if (!url.startsWith('file:')) return 'compiled queries';
  const path = fileURLToPath(url);
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return name ?? path.replace(`${ROOT}/`, '').split('/src/').join('/');
}
