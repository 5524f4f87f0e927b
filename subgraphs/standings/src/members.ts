// Asks the members subgraph, as the service itself and not for a caller.
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { SubgraphUnavailable, withDeadline } from '@partner-loyalty/runtime/transport/deadline.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';

export type MembersClient = ReturnType<typeof createMembersClient>;

const EVER_ENROLLED =
  'query ($partnerId: ID!, $memberIds: [ID!]!) { everEnrolled(partnerId: $partnerId, memberIds: $memberIds) }';
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

  return {
    /**
     * Those of the members who were ever enrolled with the partner. Rejects with
     * SERVICE_UNAVAILABLE if members does not answer in time.
     */
    async everEnrolled(
      partnerId: string,
      memberIds: readonly string[],
      requestId: string,
    ): Promise<ReadonlySet<string>> {
      const { execute } = transport ?? noTransport();
      const response = execute({
        query: EVER_ENROLLED,
        variables: { partnerId, memberIds },
        caller: { kind: 'service' },
        requestId,
      });
      const { data } = await withDeadline(Promise.resolve(response), DEADLINE_MS);
      const found = data?.everEnrolled;
      if (Array.isArray(found)) return new Set(found.map(String));
      // The transport has logged why, unless it was only late.
      throw new SubgraphUnavailable('members', 'did not answer in time');
    },
  };
}
