// Names the counters of client addresses, so that a flood of addresses makes no flood of counters.
import { hash } from 'node:crypto';
import { addressBlock } from '@partner-loyalty/runtime/http/address.ts';

/** How many addresses may have a counter of their own in a window; each takes about 0.5 KB. */
const MAX_ADDRESSES = 20_000;
/** How many counters all others share. */
const SHARED = 1_024;

/**
 * Returns a function that names the counter of an address. An address keeps its own for as long as
 * it comes back within `windowMs`. Whoever owns an IPv6 /32 has four billion /64s, so beyond
 * MAX_ADDRESSES, new addresses share counters. `now` counts milliseconds.
 */
export function createAddressCounters(
  windowMs: number,
  now: () => number = () => performance.now(),
): (address: string) => string {
  let [recent, former] = [new Set<string>(), new Set<string>()];
  let begunAt = now();

  return (address) => {
    const block = addressBlock(address);
    if (now() - begunAt >= windowMs) {
      former = now() - begunAt >= 2 * windowMs ? new Set() : recent;
      recent = new Set();
      begunAt = now();
    }
    if (recent.size < MAX_ADDRESSES) recent.add(block);
    return recent.has(block) || former.has(block) ? block : sharedCounter(block);
  };
}

function sharedCounter(block: string): string {
  const number = Number.parseInt(hash('sha256', block, 'hex').slice(0, 8), 16);
  return `others ${number % SHARED}`;
}
