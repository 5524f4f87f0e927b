// The events that wait to be taken over by the feed, in domain words.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { MemberEvent } from '../rules/events.ts';

/** `ack` names the event to `acknowledge`. */
export type PendingEvent = { ack: string; event: MemberEvent };

/**
 * Each change of a member is stored together with its events: neither is ever there without the
 * other. Implemented by events.lmdb.ts and events.mongo.ts.
 */
export type EventStore = {
  /** The oldest events, those of a member in the order of the changes. */
  pending(limit: number): MaybePromise<PendingEvent[]>;
  /** Takes events out for good. Unknown ones, and those taken out before, are no error. */
  acknowledge(acks: readonly string[]): Promise<void>;
};

const ID_LENGTH = 36;

/** `place` is where the engine finds the event. */
export function ackOf({ id }: MemberEvent, place: string | number): string {
  return `${id} ${place}`;
}

/** The IDs of events by the places that their acks name. */
export function idsByPlace(acks: readonly string[]): Map<string, Set<string>> {
  const places = new Map<string, Set<string>>();
  for (const ack of acks) {
    const place = ack.slice(ID_LENGTH + 1);
    const ids = places.get(place) ?? new Set();
    places.set(place, ids.add(ack.slice(0, ID_LENGTH)));
  }
  return places;
}
