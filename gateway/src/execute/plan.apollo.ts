// The thread that plans for a process: it starts with the first planner, and runs all of them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import { createPlaces } from '@partner-loyalty/runtime/eventloop/places.ts';
import { RUN } from '@partner-loyalty/runtime/process/run.ts';
import type { SurfaceName } from '../schema/surfaces.ts';
import type { SurfaceFacts } from './facts.ts';

/** A planner in the thread. If a request ends the thread, those behind it are sent again. */
type ThreadPlanner = SurfaceFacts & {
  /**
   * Plans a validated operation, printed. With `isWhole`, it may select hidden fields too. An owner
   * waits until its plan before is done, and rests. Rejects if the planner cannot, with
   * OPERATION_TOO_COMPLEX if it takes too long.
   */
  plan(operation: string, asked: PlanOptions): Promise<PlannedText>;
  close(): void;
};

type PlanOptions = {
  isAbstract: boolean;
  isWhole?: boolean | undefined;
  owner?: string | undefined;
};

/**
 * Opens a planner of a surface of a supergraph, or of the supergraph as it is. Rejects with the
 * reason if the supergraph is invalid. With what is `known` of a valid one, the thread is not
 * needed before the first plan.
 */
export async function openThreadPlanner(
  supergraph: string,
  surface: SurfaceName | undefined,
  known?: SurfaceFacts,
): Promise<ThreadPlanner> {
  const planner = ++lastPlanner;
  const opening: PlannerRequest = { id: 0, planner, kind: 'open', supergraph, surface };
  const open = () => {
    const home = thread();
    return { home, opened: home.ask(opening).then(openedOf), built: undefined as Built };
  };
  let current: ReturnType<typeof open> | undefined;
  // A thread that has replaced one that ended has no planners.
  const inThread = () => {
    if (current === undefined || current.home !== running) current = open();
    return current;
  };
  const first = known ?? (await untilDone(() => inThread().opened));
  return {
    ...first,
    plan(operation, { isAbstract, isWhole = false, owner }) {
      const asked = { operation, isAbstract, isWhole };
      const request: PlannerRequest = { id: 0, planner, kind: 'plan', ...asked };
      const planned = () =>
        untilDone(async () => {
          const open = inThread();
          await open.opened;
          open.built ??= open.home.ask({ id: 0, planner, kind: 'build' });
          await open.built;
          const response = await open.home.ask(request);
          if ('planned' in response) return response.planned;
          throw new Error('the planner thread gave a wrong response');
        });
      return owner === undefined ? planned() : inTurn(owner, planned);
    },
    close() {
      if (current !== undefined && current.home === running)
        current.home.tell({ id: 0, planner, kind: 'close' });
    },
  };
}

/** One plan of an owner at a time, or all others would wait behind a hundred slow ones. */
const turn = createPlaces({ ofOwner: 1, waitMs: 10_000 });
/** So many times as long as a slow plan has taken, its owner rests. */
const REST = 4;
const SLOW_MS = 100;
const REST_AFTER_TIMEOUT_MS = 9_000;

async function inTurn(owner: string, plan: () => Promise<PlannedText>): Promise<PlannedText> {
  const leave = await turn({ owner });
  let restMs = REST_AFTER_TIMEOUT_MS;
  try {
    const planned = await plan();
    restMs = planned.ms < SLOW_MS ? 0 : planned.ms * REST;
    return planned;
  } catch (error) {
    if (error instanceof NoPlanError) restMs = 0;
    throw error;
  } finally {
    if (restMs === 0) leave();
    else setTimeout(leave, restMs).unref();
  }
}

/** Most operations need no plan of the thread, and large graphs take a second to build this. */
type Built = Promise<unknown> | undefined;

/** Asks again whenever the thread has ended because of another request. */
async function untilDone<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof EndedForAnother)) throw error;
    }
  }
}

function openedOf(response: PlannerResponse): SurfaceFacts {
  if ('opened' in response) return response.opened;
  throw new Error('the planner thread gave a wrong response');
}

type Thread = {
  ask(request: PlannerRequest): Promise<PlannerResponse>;
  tell(request: PlannerRequest): void;
};

/** A hostile operation that takes too much memory ends the thread, and the process goes on. */
export const PLANNER_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 };

/**
 * The thread's CPU time. Planning takes milliseconds. With some operations on interface objects,
 * Apollo's planner never ends, and takes memory until V8 ends the whole process in spite of the
 * limit above: on a slow core, after 4.5 seconds.
 */
const PLAN_TIMEOUT_MS = 1_000;
/** Wall-clock time, however little CPU time the thread gets on a busy machine. */
const LONGEST_PLAN_MS = 10_000;

/** The thread answers that it cannot. */
class NoPlanError extends Error {}

/** The thread ended because of another request, so this one can be sent again. */
class EndedForAnother extends Error {}

let lastPlanner = 0;
let running: Thread | undefined;

function thread(): Thread {
  running ??= startThread();
  return running;
}

function startThread(): Thread {
  const worker = new Worker(RUN, {
    argv: [join(import.meta.dirname, 'worker.ts')],
    resourceLimits: PLANNER_LIMITS,
    execArgv: [],
  });
  const waiting: Waiting = new Map();
  let lastId = 0;
  let threadId: number | undefined;
  worker.on('message', (response: PlannerResponse) => {
    if ('thread' in response) {
      threadId = response.thread;
      return;
    }
    const asked = waiting.get(response.id);
    waiting.delete(response.id);
    watch();
    if (waiting.size === 0) worker.unref();
    if ('error' in response) asked?.reject(new NoPlanError(response.error));
    else asked?.resolve(response);
  });
  const end = (error: Error) => {
    if (running === started) running = undefined;
    const [first, ...behind] = waiting.values();
    waiting.clear();
    watch();
    first?.reject(error);
    for (const { reject } of behind) reject(new EndedForAnother(error.message));
  };
  const clock = () => cpuMsOf(threadId);
  const watch = createWatch(waiting, clock, () => {
    end(new ApiError('OPERATION_TOO_COMPLEX', 'the operation takes too long to plan'));
    void worker.terminate();
  });
  worker.on('error', end);
  worker.on('exit', () => end(new Error('the planner thread ended')));
  worker.unref();
  const started: Thread = {
    ask(request) {
      return new Promise((resolve, reject) => {
        const id = ++lastId;
        waiting.set(id, { kind: request.kind, resolve, reject });
        if (waiting.size === 1) watch();
        // Only a thread that has work keeps the process running.
        worker.ref();
        worker.postMessage({ ...request, id });
      });
    },
    tell: (request) => worker.postMessage(request),
  };
  return started;
}

/** The requests without a response. The thread works on the first of them. */
type Waiting = Map<
  number,
  {
    kind: PlannerRequest['kind'];
    resolve(response: PlannerResponse): void;
    reject(error: Error): void;
  }
>;

/**
 * To be called whenever another request is the first. `onStuck` ends the thread; `cpuMs` is a clock
 * of its CPU time.
 */
function createWatch(
  waiting: Waiting,
  cpuMs: () => number | undefined,
  onStuck: () => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    clearTimeout(timer);
    const [first] = waiting;
    if (first?.[1].kind !== 'plan') return;
    const [id] = first;
    const startedAt = performance.now();
    const cpuAtStart = cpuMs();
    const check = () => {
      const [still] = waiting;
      if (still?.[0] !== id) return;
      const elapsed = performance.now() - startedAt;
      const cpu = cpuMs();
      const used = cpu === undefined || cpuAtStart === undefined ? elapsed : cpu - cpuAtStart;
      if (used >= PLAN_TIMEOUT_MS || elapsed >= LONGEST_PLAN_MS) onStuck();
      else wait(PLAN_TIMEOUT_MS - used);
    };
    const wait = (ms: number) => {
      // A response may have come while the event loop was held: it is read before the check.
      timer = setTimeout(() => setImmediate(check), ms);
    };
    wait(PLAN_TIMEOUT_MS);
  };
}

/** The CPU time that a thread of this process has had; undefined where there is no /proc. */
function cpuMsOf(threadId: number | undefined): number | undefined {
  if (threadId === undefined) return undefined;
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${threadId}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return undefined;
  }
}

/** `planner` is a number that the process gives each planner of the thread. */
export type PlannerRequest = { id: number; planner: number } & (
  | { kind: 'open'; supergraph: string; surface: SurfaceName | undefined }
  | { kind: 'build' }
  | { kind: 'plan'; operation: string; isAbstract: boolean; isWhole: boolean }
  | { kind: 'close' }
);

/**
 * The response to the request with the same `id`. The first message of a thread has its ID on Linux
 * instead.
 */
export type PlannerResponse = { id: number } & (
  | { thread: number }
  | { opened: SurfaceFacts }
  | { built: true }
  | { planned: PlannedText }
  | { error: string }
);

export type PlannedText = {
  /** A QueryPlan in JSON; undefined if it is too large. */
  plan: string | undefined;
  /** Whether runDirectPlan can run it. */
  isDirect: boolean;
  /** How long it took. */
  ms: number;
};
