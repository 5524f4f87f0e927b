// Measures one process: under full load, with its answers checked, or one that shows latencies.
import { requestTemplates } from '../dataset/requests.ts';
import { type RawLoad, sendRaw } from '../load/raw.ts';
import { type ListLoad, type Load, type LoadResult, wrk } from '../load/wrk.ts';
import type { Usage } from '../machine/usage.ts';
import { checkAnswers } from './answers.ts';
import type { Server } from './server.ts';

export type Sample = {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time of the process and its children for each request, in microseconds. */
  cpuMicros: number;
  /**
   * CPU time over elapsed time. If it is well below 1, something other than the process was the
   * bottleneck.
   */
  busy: number;
  rssMb: number;
};

/** A part of a sample, perhaps with the time of each request. */
export type Slice = Sample & { latenciesMs?: readonly number[] };

export type Timing = { seconds: number; connections: number };

/** A started process and the way to measure it. */
export type Measurable = {
  measure(timing: Timing): Promise<Slice>;
  /** The load that warms it up, if that is another one. */
  warmUp?(timing: Timing): Promise<Sample>;
  stop(): Promise<unknown>;
};

/** The requests of a load, and the check of a server's responses before and after it. */
export type Work = {
  requests: Pick<Load, 'templates' | 'members'> | Pick<ListLoad, 'list'>;
  /** Rejects with the first wrong answer. */
  check(): Promise<void>;
};

/** A server to be measured with these request templates: one look-up each by default. */
export function underLoad(server: Server, templates = requestTemplates(server)): Measurable {
  return underWork(server, lookUps(server, templates));
}

/** A server to be measured at some other work. */
export function underWork(server: Server, work: Work): Measurable {
  return { measure: (timing) => measure(server, timing, work), stop: server.stop };
}

/** Load at a rate; without one, each request is sent as soon as a connection is free. */
export type LatencyLoad = Pick<RawLoad, 'next' | 'connections' | 'ratePerSecond'>;

/**
 * A server to be measured by this load, and warmed up by full load and by this one in turn: a
 * request that comes alone runs code that batches do not.
 */
export function underRawLoad(server: Server, load: LatencyLoad): Measurable {
  const full = underLoad(server);
  let turn = 0;
  const measureRaw = async ({ seconds }: Pick<Timing, 'seconds'>): Promise<Slice> => {
    const latenciesMs: number[] = [];
    const onAnswer = (ms: number) => latenciesMs.push(ms);
    const before = server.usage();
    const result = await sendRaw({ ...load, url: server.url, seconds, onAnswer });
    if (result.failed > 0) throw new Error(`failed requests: ${result.failed}`);
    const sample = sampleOf({ ...result, requests: result.answered }, before, server.usage());
    return { ...sample, latenciesMs };
  };
  return {
    warmUp: (timing) => (turn++ % 2 === 0 ? full.measure(timing) : measureRaw(timing)),
    measure: measureRaw,
    stop: server.stop,
  };
}

/**
 * Measures a server under full load, without warming it up. Rejects if an answer is wrong or a
 * request fails.
 */
export async function measure(
  server: Server,
  { seconds, connections }: Timing,
  { requests, check }: Work = lookUps(server),
): Promise<Sample> {
  const load = {
    url: server.url,
    ...requests,
    connections,
    cores: 'load' as const,
  };
  await check();
  const before = server.usage();
  const result = await wrk({ ...load, seconds });
  const after = server.usage();
  await check();
  return sampleOf(result, before, after);
}

function lookUps(server: Server, templates = requestTemplates(server)): Work {
  return {
    requests: { templates, members: server.members },
    check: () => checkAnswers(server),
  };
}

/** The sample of a load, from the usage before and after it. */
export function sampleOf(
  { requests, seconds, p50Ms, p99Ms }: LoadResult,
  before: Usage,
  after: Usage,
): Sample {
  const cpuSeconds = after.cpuSeconds - before.cpuSeconds;
  return {
    perSecond: requests / seconds,
    p50Ms,
    p99Ms,
    cpuMicros: (cpuSeconds / requests) * 1e6,
    busy: cpuSeconds / seconds,
    rssMb: after.rssMb,
  };
}
