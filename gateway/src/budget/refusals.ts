// What a process knows of the refused credentials of client addresses, before counters answer.
import { addressBlock } from '@partner-loyalty/runtime/http/address.ts';
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import { LRUCache } from 'lru-cache';
import type { Count } from './counters.ts';

/** Each takes about 0.3 KB. */
const MAX_ADDRESSES = 20_000;

type Tally = {
  /** What the counter answered last, in a window that ends at `endsAt`. */
  counted: number;
  endsAt: number;
  /** Credentials that are being looked up, or counted as refused. */
  pending: number;
};

const NOTHING: Readonly<Tally> = { counted: 0, endsAt: 0, pending: 0 };

/**
 * Other processes may have counted more. An IPv6 /64 counts as one address. `now` counts
 * milliseconds.
 */
export function createRefusals(limit: number, now = () => performance.now()) {
  const byAddress = new LRUCache<string, Tally>({ max: MAX_ADDRESSES });
  const tallyOf = (address: string) => byAddress.peek(addressBlock(address)) ?? NOTHING;
  const countedOf = ({ counted, endsAt }: Tally) => (now() < endsAt ? counted : 0);

  function begin(address: string): Tally {
    const block = addressBlock(address);
    const tally = byAddress.get(block) ?? { ...NOTHING };
    tally.pending += 1;
    byAddress.set(block, tally);
    return tally;
  }

  return {
    /** Whether one was refused beyond the limit, in a window that has not ended. */
    isOver: (address: string) => countedOf(tallyOf(address)) > limit,
    /** Whole seconds until that window ends. */
    secondsLeft: (address: string) =>
      Math.max(1, Math.ceil((tallyOf(address).endsAt - now()) / 1_000)),
    mayBeOver(address: string) {
      const tally = tallyOf(address);
      return countedOf(tally) + tally.pending > limit;
    },
    duringLookUp<T>(address: string, run: () => MaybePromise<T>) {
      const found = run();
      if (!(found instanceof Promise)) return found;
      const tally = begin(address);
      const end = () => {
        tally.pending -= 1;
      };
      found.then(end, end);
      return found;
    },
    /** Counts a refused credential, which is pending until `add` has counted it. */
    async count(address: string, add: () => Promise<Count>) {
      const tally = begin(address);
      // Taken before the call: the window never ends later for this process than for the counter.
      const begunAt = now();
      try {
        const count = await add();
        tally.counted = count.consumedPoints;
        tally.endsAt = begunAt + count.msBeforeNext;
        return count;
      } finally {
        tally.pending -= 1;
      }
    },
  };
}
