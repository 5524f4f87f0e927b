// The audit log: members that partners were shown or changed, and what staff and publishers did.
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { outputToStdout } from '@partner-loyalty/runtime/observe/output.ts';
import { withoutSecrets } from '@partner-loyalty/runtime/observe/secrets.ts';
import type { MemberAccess } from '../execute/members.ts';
import { type Principal, partnerIdOf } from '../identity/authenticate.ts';
import type { Staff } from '../identity/staff.ts';
import { type AuditSink, openAuditFile } from './file.ts';

/** What somebody did in the console. */
type StaffAction = {
  requestId: string;
  staff: Staff;
  /** Such as `console.keys.rotate`. */
  operation: string;
  /** The ID of what was made or changed. */
  target?: string | undefined;
  /** Whether it ended with an error of the service, having done perhaps a part. */
  failed?: true | undefined;
};

/** What was done with the graph, by an operator if there is no token. */
export type GraphAction = {
  /** Such as `supergraph.publish`. */
  operation: string;
  owner?: string;
  tokenId?: string;
  subgraph?: string;
  /** The change as versions have it: `publish offers`. */
  target?: string;
  version?: number;
  proposalId?: string;
  /** What was approved, or waits for it. */
  needs?: readonly string[];
};

export type Audit = {
  /** The list for a request's accesses; undefined if no partner makes the request. */
  begin(principal: Principal): MemberAccess[] | undefined;
  /** Writes a line for each member; accesses of one member by one root field make one line. */
  record(requestId: string, principal: Principal, accesses: readonly MemberAccess[]): void;
  staff(action: StaffAction): void;
  graph(action: GraphAction): void;
} & Pick<AuditSink, 'state' | 'close'>;

/** `path` is the setting AUDIT_LOG. Throws if the file cannot be opened. */
export function openAudit(
  path: string | undefined,
  observe: { log: Log; metrics: Metrics },
): Audit | undefined {
  if (path === undefined) return undefined;
  return createAudit(path === '-' ? openStdout(observe.metrics) : openAuditFile(path, observe));
}

function createAudit(sink: AuditSink): Audit {
  return {
    begin: (principal) => (partnerIdOf(principal) === undefined ? undefined : []),
    record(requestId, principal, accesses) {
      if (accesses.length === 0) return;
      const caller = {
        time: new Date().toISOString(),
        partner: partnerIdOf(principal),
        keyId: principal.surface === 'partner' ? principal.id : undefined,
        // Callers choose it, and some of them paste a secret there.
        requestId: withoutSecrets(requestId),
      };
      for (const access of merged(accesses))
        sink.write(`${JSON.stringify({ ...caller, ...access })}\n`);
    },
    staff({ requestId, staff: { staffId, partnerId }, ...action }) {
      const caller = { time: new Date().toISOString(), partner: partnerId, staffId };
      sink.write(
        `${JSON.stringify({ ...caller, requestId: withoutSecrets(requestId), ...action })}\n`,
      );
    },
    graph: (action) => sink.write(graphLine(action)),
    state: () => sink.state(),
    close: () => sink.close(),
  };
}

export function graphLine(action: GraphAction): string {
  return `${JSON.stringify({ time: new Date().toISOString(), ...action })}\n`;
}

function merged(accesses: readonly MemberAccess[]): Iterable<MemberAccess> {
  const [only] = accesses;
  if (accesses.length === 1 && only !== undefined) return [only];
  const found = new Map<string, MemberAccess>();
  for (const access of accesses) {
    const { operation, memberId, fields } = access;
    const name = `${operation}\n${memberId}`;
    const known = found.get(name);
    const all = known === undefined ? fields : [...new Set([...known.fields, ...fields])];
    found.set(name, { operation, memberId, fields: all });
  }
  return found.values();
}

/** Shares stdout with the log, line by line. */
function openStdout(metrics: Metrics): AuditSink {
  const stdout = outputToStdout();
  return {
    write(line) {
      metrics.audit(stdout.isLosing() ? 'lost' : 'written', 1);
      stdout.write(line);
    },
    state: () => (stdout.isLosing() ? 'degraded' : 'up'),
    close: async () => stdout.flush(),
  };
}
