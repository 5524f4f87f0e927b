// Shares the event loop between owners: work in slices of a tick, the owners in turn.
import { afterPoll } from './afterpoll.ts';

/** What a tick does before further work waits for the next one. */
const SLICE_MS = 5;
/** How many waiting steps a tick may begin; between two of them, promises settle. */
const MOST_STEPS = 32;

/** Work that waits for its turn. */
export type Step = { run(): void };

/** The steps of an owner. Its parts, such as client addresses, take turns within it. */
type Queue = Map<string, Step[]>;

/**
 * Owners with waiting steps run one in turn, at least one in each tick. What arrives for an owner
 * that has nothing waiting runs before them, for as long as the tick's time lasts: so an owner
 * waits for at most one slice of each other one. `now` counts milliseconds.
 */
export function createTurns(now: () => number = () => performance.now()) {
  // In the order of their turns.
  const queues = new Map<string, Queue>();
  let waiting = 0;
  /** When the slice of this tick ends; undefined before its first work. */
  let sliceEndsAt: number | undefined;
  let isEndScheduled = false;
  let begun = 0;
  /** Ticks in a row, before this one, that accepted a connection. */
  let acceptingTicks = 0;
  let hasAccepted = false;
  /** When the slice for accepting connections ends. */
  let acceptsUntil = Number.NEGATIVE_INFINITY;

  function hasTime(): boolean {
    const time = now();
    sliceEndsAt ??= time + SLICE_MS;
    if (!isEndScheduled) {
      isEndScheduled = true;
      // After the steps that follow the poll, which have a slice of their own. Before them, the
      // first would begin a tick, for whose end the event loop would not wait for more requests.
      afterPoll(() => {
        sliceEndsAt = undefined;
        afterPoll(endTick);
      });
    }
    return time < sliceEndsAt && time >= acceptsUntil;
  }

  function endTick(): void {
    sliceEndsAt = undefined;
    acceptingTicks = hasAccepted ? acceptingTicks + 1 : 0;
    hasAccepted = false;
    if (acceptingTicks < 2) acceptsUntil = Number.NEGATIVE_INFINITY;
    else if (now() >= acceptsUntil) acceptsUntil = now() + SLICE_MS;
    isEndScheduled = waiting > 0;
    if (waiting === 0) return;
    begun = 0;
    // Promises settle between two immediates, and all of these run in the next tick.
    for (let count = Math.min(waiting, MOST_STEPS); count > 0; count -= 1) setImmediate(runNext);
    setImmediate(endTick);
  }

  function runNext(): void {
    if (waiting === 0 || (!hasTime() && (begun > 0 || now() < acceptsUntil))) return;
    begun += 1;
    takeNext()?.run();
  }

  function takeNext(): Step | undefined {
    const owner = takeFirst(queues);
    const part = owner && takeFirst(owner[1]);
    if (owner === undefined || part === undefined) return undefined;
    const step = part[1].shift();
    if (part[1].length > 0) owner[1].set(...part);
    if (owner[1].size > 0) queues.set(...owner);
    waiting -= 1;
    return step;
  }

  return {
    /**
     * Whether work of this owner may begin now: the tick has time left, and little waits, or
     * nothing of the owner. A step that has begun is not interrupted, so ask before each long one.
     */
    mayRun: (owner: string) => hasTime() && (waiting < MOST_STEPS || !queues.has(owner)),
    /** Runs the step when it is the owner's turn, and within the owner the part's. */
    add(owner: string, part: string, step: Step): void {
      hasTime();
      const queue: Queue = queues.get(owner) ?? new Map();
      queues.set(owner, queue);
      const steps = queue.get(part);
      if (steps === undefined) queue.set(part, [step]);
      else steps.push(step);
      waiting += 1;
    },
    /**
     * Notes that the tick has accepted a connection. libuv accepts one in each tick, so while ticks
     * in a row do, many may wait: every other slice is theirs, in which no work begins.
     */
    accepted(): void {
      hasAccepted = true;
      hasTime();
    },
    /** Takes back a step that has not run. */
    remove(owner: string, part: string, step: Step): void {
      const queue = queues.get(owner);
      const steps = queue?.get(part) ?? [];
      const index = steps.indexOf(step);
      if (index === -1) return;
      steps.splice(index, 1);
      waiting -= 1;
      if (steps.length === 0) queue?.delete(part);
      if (queue?.size === 0) queues.delete(owner);
    },
  };
}

function takeFirst<T>(map: Map<string, T>): [string, T] | undefined {
  const [first] = map;
  if (first !== undefined) map.delete(first[0]);
  return first;
}
