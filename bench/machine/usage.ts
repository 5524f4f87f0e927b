// CPU time and resident memory of a process and its children, read from /proc.
import { readdirSync, readFileSync } from 'node:fs';

export type Usage = { cpuSeconds: number; rssMb: number };

/** Resident memory: all of it, pages of mapped files, and of these the embedded store's. */
export type Memory = { rssMb: number; fileMb: number; storeMb: number };

type FileMap = { path: string; kilobytes: number };
type ProcessUsage = { pid: number; parent: number; ticks: number; pages: number };

/** Linux counts CPU time in ticks of 10 ms on every architecture that Node supports. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

/** CPU time since the start, and memory now. Throws if the process has ended. */
export function usageOf(pid: number): Usage {
  const found = familyOf(pid);
  return {
    cpuSeconds: found.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND,
    rssMb: (found.reduce((sum, { pages }) => sum + pages, 0) * PAGE_BYTES) / 2 ** 20,
  };
}

/** Memory now, by what it holds. Throws if the process has ended. */
export function memoryOf(pid: number): Memory {
  const maps = familyOf(pid).flatMap((each) => mapsOf(each.pid));
  const megabytes = (all: readonly FileMap[]) =>
    all.reduce((sum, { kilobytes }) => sum + kilobytes, 0) / 2 ** 10;
  return {
    rssMb: usageOf(pid).rssMb,
    fileMb: megabytes(maps),
    storeMb: megabytes(maps.filter(({ path }) => path.endsWith('/data.mdb'))),
  };
}

/** A process and its children, and theirs. */
function familyOf(pid: number): ProcessUsage[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readUsage);
  const family = [pid];
  for (const member of family)
    for (const each of all) if (each.parent === member) family.push(each.pid);
  const found = all.filter((each) => family.includes(each.pid));
  if (!found.some((each) => each.pid === pid)) throw new Error(`process ${pid} has ended`);
  return found;
}

/** The mapped files, with the resident pages that are still the file's (proc_pid_smaps(5)). */
function mapsOf(pid: number): FileMap[] {
  const text = readFileSync(`/proc/${pid}/smaps`, 'latin1');
  const field = (map: string, name: string) =>
    Number(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(map)?.[1] ?? 0);
  return text.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m).flatMap((map) => {
    const [, path] = /^.* (\/.*)$/m.exec(map.slice(0, map.indexOf('\n'))) ?? [];
    if (path === undefined) return [];
    return [{ path, kilobytes: field(map, 'Rss') - field(map, 'Anonymous') }];
  });
}

/** An array of one, or none if the process has ended since the folder was listed. */
function readUsage(pid: string): ProcessUsage[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in brackets may contain spaces; the fields after it, from the third on, contain none
    // (proc_pid_stat(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const field = (index: number) => Number(fields[index] ?? 0);
    return [{ pid: Number(pid), parent: field(1), ticks: field(11) + field(12), pages: field(21) }];
  } catch {
    return [];
  }
}
