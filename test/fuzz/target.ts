// The service under fuzzing, what must hold after everything that is sent to it, and runs of cases.
import * as fc from 'fast-check';
import { SLOW } from '../support/cases/heavy.ts';
import { calibrate, cpuOf } from '../support/cpu.ts';
import type { ApiRequest } from '../support/service/client.ts';
import { startProbe } from '../support/service/probe.ts';
import type { DeployedService } from '../support/service/stack.ts';

const MAX_RESPONSE_BYTES = 1024 * 1024;
/**
 * In milliseconds where calibrate() gives 10. Twice the bound of a request, since code that runs
 * for the first time and a garbage collection may come on top.
 */
const MAX_CPU = 100;

/** What only other partners of alpha's may see: ids, names and external ids of their members. */
const SECRETS = [
  'm-beta',
  'm-frugal',
  'm-nobody',
  'm-ended',
  'Umber',
  'beta-7',
  'gamma-4',
  'frugal-1',
];

export type Target = {
  service: DeployedService;
  /** A member's ID token. */
  token: string;
  /** Sends a request and checks its response and its cost. */
  send(request: ApiRequest): Promise<void>;
  /** Checks what the service sent: its size, and that it tells alpha nothing about others. */
  checkText(text: string, sent: string, responses?: number): void;
  /** Checks that a well-behaved caller is answered as always. */
  checkAlive(): Promise<void>;
};

export async function openTarget(service: DeployedService): Promise<Target> {
  const { pid } = service.stack.gateway;
  const probe = await startProbe(service.send);
  // The first operation that needs Apollo's libraries loads them, for all requests after it.
  await service.send(SLOW['conditions in one another']?.(0) ?? {});
  const unit = calibrate() / 10;

  function checkText(text: string, sent: string, responses = 1): void {
    const bytes = Buffer.byteLength(text);
    if (bytes > responses * (MAX_RESPONSE_BYTES + 16_384))
      throw new Error(`the response has ${bytes} bytes`);
    for (const secret of SECRETS)
      if (text.includes(secret) && !sent.includes(secret))
        throw new Error(`the response contains ${secret}: ${text.slice(0, 2_000)}`);
  }

  async function measured(request: ApiRequest): Promise<{ text: string; cost: number }> {
    const before = cpuOf(pid);
    const { text } = await service.send(request);
    return { text, cost: (cpuOf(pid) - before) / unit };
  }

  return {
    service,
    token: await service.provider.issue('m-both'),
    async send(request) {
      const { text, cost } = await measured(request);
      // A collection of all garbage may have fallen into it. A comment makes it a new document.
      if (cost > MAX_CPU) {
        const again = await measured({ ...request, query: `${request.query ?? ''} # again` });
        if (again.cost > MAX_CPU)
          throw new Error(`the request took ${Math.round(cost)} and ${Math.round(again.cost)} ms`);
      }
      checkText(text, JSON.stringify(request));
    },
    checkText,
    async checkAlive() {
      const { text } = await service.send(probe.request);
      if (text !== probe.expected) throw new Error(`a well-behaved caller received ${text}`);
    },
  };
}

/** Resolves with the number of cases. Rejects with the smallest case that fails. */
export async function runCases<T>(
  target: Pick<Target, 'checkAlive'>,
  arbitrary: fc.Arbitrary<T>,
  { seed, milliseconds }: { seed: number; milliseconds: number },
  check: (input: T) => Promise<void>,
): Promise<number> {
  let cases = 0;
  const property = fc.asyncProperty(arbitrary, async (input) => {
    cases += 1;
    await check(input);
    await target.checkAlive();
  });
  await fc.assert(property, {
    seed,
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: milliseconds,
    markInterruptAsFailure: false,
  });
  return cases;
}
