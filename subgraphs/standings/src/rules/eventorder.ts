// The order in which the events of two outboxes get their positions.

/** Events of an outbox in its order. What else it has was made at `until` or later. */
export type Source<E> = { events: readonly E[]; until: number };

/** An event, or several of one time. */
type Timed = { occurredAt: number };

/**
 * Merges two outboxes: each keeps its order, otherwise the earlier event comes first. An event has
 * to wait if the other outbox may still have an earlier one, and an own one if it was made after
 * `ownUntil`. Returns how many were taken of each.
 */
export function mergeSources<M extends Timed, O extends Timed>(
  members: Source<M>,
  own: Source<O>,
  ownUntil: number,
): { events: (M | O)[]; members: number; own: number } {
  // At least the first one of the outbox that ends first, however wrong the clocks are.
  const until = Math.min(endOf(members), endOf(own));
  const ofMembers = readyIn(members.events, until);
  const ofOwn = readyIn(own.events, Math.min(until, ownUntil));
  const events = inTime<M | O>([ofMembers, ofOwn]);
  return { events, members: ofMembers.length, own: ofOwn.length };
}

/** All events by their time, except that each list keeps its order. */
export function inTime<E extends Timed>(lists: readonly (readonly E[])[]): E[] {
  return lists
    .flatMap((list) => {
      let at = 0;
      return list.map((event) => {
        at = Math.max(at, event.occurredAt);
        return { at, event };
      });
    })
    .sort((one, other) => one.at - other.at)
    .map(({ event }) => event);
}

function endOf({ events: [first], until }: Source<Timed>): number {
  return Math.max(until, first?.occurredAt ?? until);
}

function readyIn<E extends Timed>(events: readonly E[], until: number): readonly E[] {
  const end = events.findIndex(({ occurredAt }) => occurredAt > until);
  return end === -1 ? events : events.slice(0, end);
}
