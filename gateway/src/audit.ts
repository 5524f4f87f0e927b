// What the audit log is told: the port that the audit extension implements.
import type { DependencyState } from '@partner-loyalty/runtime/process/readiness.ts';
import type { Accesses } from './execute/members.ts';
import type { Principal } from './identity/authenticate.ts';
import type { Staff } from './identity/staff.ts';

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
  /** Whether the members that a principal is shown are recorded: those that a partner is. */
  records(principal: Principal): boolean;
  /** Writes a line for each access. */
  record(requestId: string, principal: Principal, accesses: Accesses): void;
  staff(action: StaffAction): void;
  graph(action: GraphAction): void;
  state(): DependencyState;
  close(): Promise<void>;
};
