// CPU time and resident memory of a process and its children, read from /proc.
import { readdirSync, readFileSync } from 'node:fs';

/** Memory is all that is resident, and of it the pages that are shared or of files. */
export type Usage = { cpuSeconds: number; rssMb: number; fileMb: number };

type ProcessUsage = { pid: number; parent: number; ticks: number; pages: number; shared: number };

/** Linux counts CPU time in ticks of 10 ms on every architecture that Node supports. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

/** CPU time since the start, and memory now. Throws if the process has ended. */
export function usageOf(pid: number): Usage {
  const found = familyOf(pid);
  const sumOf = (figure: keyof ProcessUsage) => found.reduce((sum, each) => sum + each[figure], 0);
  return {
    cpuSeconds: sumOf('ticks') / TICKS_PER_SECOND,
    rssMb: (sumOf('pages') * PAGE_BYTES) / 2 ** 20,
    fileMb: (sumOf('shared') * PAGE_BYTES) / 2 ** 20,
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

/** An array of one, or none if the process has ended since the folder was listed. */
function readUsage(pid: string): ProcessUsage[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in brackets may contain spaces; the fields after it, from the third on, contain none
    // (proc_pid_stat(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const field = (index: number) => Number(fields[index] ?? 0);
    const ticks = field(11) + field(12);
    // The third field of statm (proc_pid_statm(5)).
    const shared = Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[2]);
    return [{ pid: Number(pid), parent: field(1), ticks, pages: field(21), shared }];
  } catch {
    return [];
  }
}
