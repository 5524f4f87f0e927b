// The events that wait to be taken over by the feed.
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { type Key, keyOf, textOf } from '@partner-loyalty/runtime/store/engine/keys.ts';
import { pagesOf } from '@partner-loyalty/runtime/store/engine/pages.ts';
import { removeRows } from '@partner-loyalty/runtime/store/engine/remove.ts';
import type { Store } from '@partner-loyalty/runtime/store/engine/store.ts';
import { type MemberEvent, withoutExternalId } from '../rules/events.ts';
import { EVENTS } from './rows.ts';

/** `ack` names the event to `acknowledge`. */
export type PendingEvent = { ack: string; event: MemberEvent };

export type EventStore = ReturnType<typeof createEventStore>;

/** How many events are written in one transaction. */
const SLICE = 200;

/** Each event is stored in the transaction of its change. */
export function createEventStore(store: Store) {
  return {
    /** The oldest events, those of a member in the order of the changes. */
    pending: (limit: number): MaybePromise<PendingEvent[]> =>
      mapMaybe(store.range(EVENTS, { prefix: [], limit, snapshot: true }), (found) =>
        found.map(({ key, row }) => ({ ack: textOf(key), event: row })),
      ),
    /** Takes events out for good. Unknown ones, and those taken out before, are no error. */
    acknowledge: (acks: readonly string[]): Promise<void> =>
      removeRows(store, EVENTS, acks.map(keyOf)),
    /** Takes the external IDs from the events of a member who has no more changes. */
    async forget(memberId: string): Promise<void> {
      for await (const page of pagesOf(store, EVENTS, { prefix: [] }, SLICE)) {
        const named = page.filter(({ row }) => row.memberId === memberId && 'externalId' in row);
        if (named.length > 0) await forgetIds(named.map(({ key }) => key));
      }
    },
  };

  function forgetIds(keys: readonly Key[]): Promise<void> {
    return store.transact((tx) => {
      for (const [index, event] of tx.peekAll(EVENTS, keys).entries()) {
        const key = keys[index] ?? [];
        // Unless it was taken over meanwhile.
        if (event !== undefined && tx.get(EVENTS, key))
          tx.put(EVENTS, key, withoutExternalId(event));
      }
    });
  }
}
