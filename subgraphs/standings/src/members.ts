// Asks the members subgraph, as the service itself and not for a caller.
import { randomUUID } from 'node:crypto';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { SubgraphUnavailable, withDeadline } from '@partner-loyalty/runtime/transport/deadline.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { type Event, parseMemberEvent } from './rules/event.ts';

export type PendingMemberEvent = { ack: string; event: Event; occurredAt: number };

export type MembersClient = ReturnType<typeof createMembersClient>;

const EVER_ENROLLED =
  'query ($partnerId: ID!, $memberIds: [ID!]!) { everEnrolled(partnerId: $partnerId, memberIds: $memberIds) }';
const PENDING_EVENTS = 'query ($first: Int!) { pendingEvents(first: $first) { ack event } }';
const ACKNOWLEDGE = 'mutation ($acks: [String!]!) { acknowledgeEvents(acks: $acks) }';
/** Less than callers wait for this subgraph, so that nothing is recorded after they give up. */
const DEADLINE_MS = 1_500;

/** Without a transport to members, every call rejects, and the log says so once. */
export function createMembersClient(
  transport: Pick<Transport, 'execute'> | undefined,
  log?: Pick<Log, 'warn'>,
) {
  let isTold = false;
  function noTransport(): never {
    if (!isTold)
      log?.warn({ reason: 'MEMBERS_URL is not set' }, 'activities cannot be recorded by partners');
    isTold = true;
    throw new SubgraphUnavailable('members', 'cannot be reached: MEMBERS_URL is not set');
  }

  /** Undefined or null in place of an answer that there is none of in time. */
  async function ask(query: string, variables: Record<string, unknown>, requestId: string) {
    const { execute } = transport ?? noTransport();
    const response = execute({ query, variables, caller: { kind: 'service' }, requestId });
    const { data } = await withDeadline(Promise.resolve(response), DEADLINE_MS);
    return data;
  }

  // The transport has logged why, unless it was only late.
  const noAnswer = (): never => {
    throw new SubgraphUnavailable('members', 'did not answer in time');
  };

  return {
    /**
     * The members among these who were ever enrolled with the partner. Rejects with
     * SERVICE_UNAVAILABLE if members does not answer in time.
     */
    async everEnrolled(
      partnerId: string,
      memberIds: readonly string[],
      requestId: string,
    ): Promise<ReadonlySet<string>> {
      const data = await ask(EVER_ENROLLED, { partnerId, memberIds }, requestId);
      const found = data?.everEnrolled;
      return Array.isArray(found) ? new Set(found.map(String)) : noAnswer();
    },
    /** The first events of the outbox there: each member's in their order. */
    async pendingEvents(first: number): Promise<PendingMemberEvent[]> {
      const data = await ask(PENDING_EVENTS, { first }, randomUUID());
      const found = data?.pendingEvents;
      if (!Array.isArray(found)) return noAnswer();
      return found.map(({ ack, event }) => {
        const parsed = parseMemberEvent(event);
        return { ack, event: parsed, occurredAt: parsed.occurredAt };
      });
    },
    /** Takes events out of it. Can be repeated. */
    async acknowledgeEvents(acks: readonly string[]): Promise<void> {
      const data = await ask(ACKNOWLEDGE, { acks }, randomUUID());
      if (data?.acknowledgeEvents !== true) noAnswer();
    },
  };
}
