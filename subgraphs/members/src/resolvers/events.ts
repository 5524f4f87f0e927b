// Resolvers by which the feed takes over the events of changes.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { EventStore } from '../store/eventstore.ts';
import { requireService } from './input.ts';
import type { Resolvers } from './schema.generated.ts';

/** The maximum of one field. */
const MAX_EVENTS = 1_000;

export function createEvents(events: EventStore) {
  return {
    Query: {
      async pendingEvents(_, { first }, { caller }) {
        requireService(caller);
        if (first < 1 || first > MAX_EVENTS) fail('BAD_USER_INPUT');
        const pending = await events.pending(first);
        return pending.map(({ ack, event }) => ({ ack, event: JSON.stringify(event) }));
      },
    },
    Mutation: {
      async acknowledgeEvents(_, { acks }, { caller }) {
        requireService(caller);
        if (acks.length > MAX_EVENTS) fail('BAD_USER_INPUT');
        await events.acknowledge(acks);
        return true;
      },
    },
  } satisfies Resolvers;
}
