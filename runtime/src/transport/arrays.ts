// Whether a subgraph takes arrays of operations at the moment.
import type { Log } from '../observe/log.ts';

/** After this, a subgraph that has refused an array gets one again. */
const PAUSE_MS = 60_000;

/** `name` is the subgraph's; `now` is in milliseconds. */
export function createArrays(
  name: string,
  log: Pick<Log, 'warn'>,
  now: () => number = () => performance.now(),
) {
  let pausedUntil = 0;
  const areTaken = () => pausedUntil === 0 || now() >= pausedUntil;
  return {
    areTaken,
    /** Stops arrays for a minute. Arrays that were under way add neither time nor warnings. */
    refused(status: number): void {
      if (!areTaken()) return;
      pausedUntil = now() + PAUSE_MS;
      log.warn(
        { subgraph: name, status },
        'a subgraph did not answer a batch as one: it gets single operations for a minute',
      );
    },
  };
}
