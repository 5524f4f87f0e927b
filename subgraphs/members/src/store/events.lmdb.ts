// The events of changes on LMDB, stored in the transaction of the change.
import type { RootDatabase } from 'lmdb';
import { type MemberEvent, withoutExternalId } from '../rules/events.ts';
import { ackOf, type EventStore, idsByPlace, type PendingEvent } from './eventstore.ts';

/** So that a part can be taken out of what a large import has put in. */
const EVENTS_IN_ENTRY = 100;

export type LmdbEvents = ReturnType<typeof openLmdbEvents>;

/** By a number that counts up, the events of a transaction or of a part of it. */
export function openEventEntries(root: RootDatabase) {
  return root.openDB<MemberEvent[], number>({ name: 'events', encoding: 'json' });
}

export function openLmdbEvents(root: RootDatabase) {
  const entries = openEventEntries(root);
  let added: MemberEvent[] = [];

  const store: EventStore = {
    pending(limit) {
      const found: PendingEvent[] = [];
      for (const { key, value } of entries.getRange()) {
        if (found.length >= limit) break;
        for (const event of value) found.push({ ack: ackOf(event, key), event });
      }
      return found.slice(0, limit);
    },
    async acknowledge(acks) {
      const places = idsByPlace(acks);
      await root.transaction(() => {
        for (const [place, ids] of places) {
          const key = Number(place);
          replace(key, entries.get(key)?.filter(({ id }) => !ids.has(id)) ?? []);
        }
      });
      await root.flushed;
    },
  };

  function replace(key: number, events: MemberEvent[]): void {
    if (events.length > 0) entries.put(key, events);
    else entries.remove(key);
  }

  return {
    store,
    /** Runs a change, and stores the events that it adds. Call it in a transaction. */
    storing<T>(change: () => T): T {
      added = [];
      const result = change();
      if (added.length > 0) {
        let [key = 0] = entries.getKeys({ reverse: true, limit: 1 });
        for (let from = 0; from < added.length; from += EVENTS_IN_ENTRY)
          entries.put(++key, added.slice(from, from + EVENTS_IN_ENTRY));
      }
      return result;
    },
    /** Call it in a change. */
    add: (events: readonly MemberEvent[]) => void added.push(...events),
    /** Takes the external IDs from a member's events. Call it in a transaction. */
    forget(memberId: string): void {
      const isOwn = (event: MemberEvent) => event.memberId === memberId;
      const found = [...entries.getRange()].filter(({ value }) => value.some(isOwn));
      for (const { key, value } of found)
        entries.put(
          key,
          value.map((event) => (isOwn(event) ? withoutExternalId(event) : event)),
        );
    },
  };
}
