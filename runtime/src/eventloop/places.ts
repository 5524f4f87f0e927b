// Limits what runs at the same time: a few places in all and for each owner, given in turn.
import { ApiError } from '../errors.ts';

type Waiting = { grant(): void };
/** What waits for an owner. Its parts, such as client addresses, take turns within it. */
type Parts = Map<string, Set<Waiting>>;

/** Who takes a place. `signal` gives it up while it waits. */
type Holder = { owner?: string; part?: string; signal?: AbortSignal };

/**
 * Returns a function that waits for a place, of which an owner has at most `ofOwner`, and resolves
 * with a function that gives it back: whoever has it next begins in another turn of the event
 * loop. Owners take turns, and an owner's requests are in order. It
 * rejects with SERVICE_UNAVAILABLE after `waitMs`, if given, when `signal` is aborted, and at once
 * if `waiting` of the same owner and part wait: a scavenge copies all that they have in memory.
 */
export function createPlaces({
  places = Number.POSITIVE_INFINITY,
  ofOwner = Number.POSITIVE_INFINITY,
  waitMs,
  waiting: most = Number.POSITIVE_INFINITY,
}: {
  places?: number;
  ofOwner?: number;
  waitMs?: number | undefined;
  waiting?: number;
}) {
  const held = new Map<string, number>();
  // In the order of their turns.
  const queues = new Map<string, Parts>();
  let free = places;

  function hold(owner: string, count: 1 | -1): void {
    free -= count;
    const own = (held.get(owner) ?? 0) + count;
    if (own === 0) held.delete(owner);
    else held.set(owner, own);
  }

  function grantNext(): void {
    // What is put last is visited again.
    for (const [owner, parts] of queues) {
      if (free === 0) return;
      if ((held.get(owner) ?? 0) >= ofOwner) continue;
      const [[part, waiting] = ['', new Set<Waiting>()]] = parts;
      const [one] = waiting;
      if (one === undefined) continue;
      hold(owner, 1);
      one.grant();
      putLast(parts, part, waiting);
      putLast(queues, owner, parts);
    }
  }

  return ({ owner = '', part = '', signal }: Holder = {}): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const parts: Parts = queues.get(owner) ?? new Map();
      const waiting = parts.get(part) ?? new Set();
      const giveUp = () => {
        end();
        if (waiting.size === 0) parts.delete(part);
        if (parts.size === 0) queues.delete(owner);
        reject(new ApiError('SERVICE_UNAVAILABLE', 'too much is in progress'));
      };
      const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs);
      const end = () => {
        waiting.delete(one);
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
      };
      const one: Waiting = {
        grant() {
          end();
          resolve(() =>
            setImmediate(() => {
              hold(owner, -1);
              grantNext();
            }),
          );
        },
      };
      signal?.addEventListener('abort', giveUp);
      queues.set(owner, parts.set(part, waiting.add(one)));
      grantNext();
      if (signal?.aborted || waiting.size > most) giveUp();
    });
}

function putLast<V extends { size: number }>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  if (value.size > 0) map.set(key, value);
}
