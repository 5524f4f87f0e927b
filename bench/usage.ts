// What a process and its children use, from /proc: CPU time and resident memory.
import { readdirSync, readFileSync } from 'node:fs';

export type Usage = { cpuSeconds: number; rssMb: number };

/** Linux counts in ticks of 10 ms on every architecture Node runs on. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

/** CPU time since the start and memory now, of a process and all below it. Throws where it is gone. */
export function usageOf(pid: number): Usage {
  const all = processes();
  const family = [pid];
  for (const member of family)
    for (const each of all) if (each.parent === member) family.push(each.pid);
  const found = all.filter((each) => family.includes(each.pid));
  if (!found.some((each) => each.pid === pid)) throw new Error(`process ${pid} has ended`);
  return {
    cpuSeconds: found.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND,
    rssMb: (found.reduce((sum, { pages }) => sum + pages, 0) * PAGE_BYTES) / 2 ** 20,
  };
}

function processes(): { pid: number; parent: number; ticks: number; pages: number }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
        // The name in brackets may hold spaces; the fields after it do not (proc_pid_stat(5), from field 3 on).
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const [parent, utime, stime, pages] = [fields[1], fields[11], fields[12], fields[21]].map(
          Number,
        );
        return [
          {
            pid: Number(name),
            parent: parent ?? 0,
            ticks: (utime ?? 0) + (stime ?? 0),
            pages: pages ?? 0,
          },
        ];
      } catch {
        return []; // It ended since the folder was listed.
      }
    });
}
