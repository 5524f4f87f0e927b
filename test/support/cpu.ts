// The CPU time of a process's main thread, and a unit for it that does not depend on the machine.
import { readFileSync } from 'node:fs';

/** In milliseconds. Linux counts it exactly as long as the thread waits. */
export function cpuOf(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ');
  return Number(nanoseconds) / 1_000_000;
}

/**
 * How long this machine takes for work that took 10 ms where the bounds were set: parsing and
 * writing 680 KB of JSON.
 */
export function calibrate(): number {
  const value = { items: Array.from({ length: 200 }, (_, n) => ({ id: `x${n}`, v: [n, n + 1] })) };
  const times = Array.from({ length: 20 }, () => {
    const startedAt = cpuOf(process.pid);
    for (let round = 0; round < 120; round += 1) JSON.stringify(JSON.parse(JSON.stringify(value)));
    return (cpuOf(process.pid) - startedAt) / 2;
  });
  return median(times);
}

export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}
