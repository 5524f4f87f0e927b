// Measures one process: under full load, with its answers checked, or one that shows latencies.
import { requestTemplates } from '../dataset/requests.ts';
import { type RawLoad, sendRaw } from '../load/raw.ts';
import { type LoadResult, type Requests, wrk } from '../load/wrk.ts';
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

/**
 * The requests of a load, and the check of a server's responses before and after it, which rejects
 * with the first wrong answer.
 */
export type Work = Requests & { check(): Promise<void> };

/**
 * A server to be measured under full load, of look-ups by default. A measurement rejects if an
 * answer is wrong or a request fails.
 */
export function underLoad(
  server: Server,
  { check, ...requests }: Work = {
    templates: requestTemplates(server),
    members: server.members,
    check: () => checkAnswers(server),
  },
): Measurable {
  return {
    async measure(timing) {
      await check();
      const before = server.usage();
      const result = await wrk({ url: server.url, ...requests, ...timing });
      const after = server.usage();
      await check();
      return sampleOf(result, before, after);
    },
    stop: server.stop,
  };
}

/**
 * A server to be measured by this load, and warmed up by full load and by this one in turn: a
 * request that comes alone runs code that batches do not. Without a rate, each request is sent as
 * soon as a connection is free.
 */
export function underRawLoad(
  server: Server,
  load: Pick<RawLoad, 'next' | 'connections' | 'ratePerSecond'>,
): Measurable {
  const full = underLoad(server);
  let turn = 0;
  const measure = async ({ seconds }: Pick<Timing, 'seconds'>): Promise<Slice> => {
    const before = server.usage();
    const result = await sendRaw({ ...load, url: server.url, seconds });
    if (result.failed > 0) throw new Error(`failed requests: ${result.failed}`);
    const { answered: requests, latenciesMs } = result;
    return { ...sampleOf({ ...result, requests }, before, server.usage()), latenciesMs };
  };
  return {
    warmUp: (timing) => (turn++ % 2 === 0 ? full.measure(timing) : measure(timing)),
    measure,
    stop: server.stop,
  };
}

/** The sample of a load, from the usage before and after it. */
function sampleOf(
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
