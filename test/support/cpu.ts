// The CPU time of a process's threads, and a unit for it that does not depend on the machine.
import { readdirSync, readFileSync } from 'node:fs';

/**
 * The CPU time of the main thread or of another one, in milliseconds. Linux counts it exactly as
 * long as the thread waits.
 */
export function cpuOf(pid: number, thread = pid): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ');
  return Number(nanoseconds) / 1_000_000;
}

/** The thread, beside the main one, that does most of the work while `work` runs. */
export async function busiestThread(pid: number, work: () => Promise<unknown>): Promise<number> {
  const threads = readdirSync(`/proc/${pid}/task`).map(Number);
  const before = new Map(threads.map((thread) => [thread, cpuOf(pid, thread)]));
  await work();
  const grown = (thread: number) => cpuOf(pid, thread) - (before.get(thread) ?? 0);
  const [busiest] = threads
    .filter((thread) => thread !== pid)
    .sort((one, other) => grown(other) - grown(one));
  if (busiest === undefined) throw new Error('the process has one thread');
  return busiest;
}

/**
 * How long this machine takes for work that took 10 ms where the bounds were set: parsing and
 * writing 680 KB of JSON.
 */
export function calibrate(): number {
  const value = { items: Array.from({ length: 200 }, (_, n) => ({ id: `x${n}`, v: [n, n + 1] })) };
  const times = Array.from({ length: 7 }, () => {
    const startedAt = cpuOf(process.pid);
    for (let round = 0; round < 120; round += 1) JSON.stringify(JSON.parse(JSON.stringify(value)));
    return (cpuOf(process.pid) - startedAt) / 2;
  });
  return median(times);
}

export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}
