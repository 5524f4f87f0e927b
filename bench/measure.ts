// One measurement of one process: warmed up, checked, loaded, and what it used meanwhile.
import { checkAnswers } from './check.ts';
import { requestTexts } from './http.ts';
import { saturate } from './load/load.ts';
import type { Running } from './stage.ts';

export type Sample = {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time of the process and its children for each request, in microseconds. */
  cpuMicros: number;
  /** Share of the time in which it was computing; well below 1, the load was the bottleneck and not the process. */
  busy: number;
  rssMb: number;
};

export type Timing = { seconds: number; warmUpSeconds: number; connections: number };

/** Measures at full load. Rejects where an answer is wrong before, or a request fails meanwhile. `texts` are other requests than the usual. */
export async function measure(
  running: Running,
  { seconds, warmUpSeconds, connections }: Timing,
  texts = requestTexts(running),
): Promise<Sample> {
  const load = {
    url: running.url,
    texts,
    members: running.members,
    connections,
    place: running.place === 'both' ? ('both' as const) : ('load' as const),
  };
  await checkAnswers(running);
  if (warmUpSeconds > 0) await saturate({ ...load, seconds: warmUpSeconds });
  const before = running.usage();
  const result = await saturate({ ...load, seconds });
  const after = running.usage();
  await checkAnswers(running);
  const cpuSeconds = after.cpuSeconds - before.cpuSeconds;
  return {
    perSecond: result.requests / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    cpuMicros: (cpuSeconds / result.requests) * 1e6,
    busy: cpuSeconds / result.seconds,
    rssMb: after.rssMb,
  };
}
