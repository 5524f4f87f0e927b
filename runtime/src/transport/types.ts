// The types that the gateway, the transports and the subgraphs share.
import type { ErrorDetails } from '../errors.ts';
import type { ReceivedHeaders, Trace } from '../observe/tracing/trace.ts';
import type { IdentityRequest } from '../signin/exchange.ts';
import type { StoreState } from '../store/outage.ts';

/** Who asks, and so whose data an operation may see. The gateway derives it from the credential. */
export type Caller =
  /**
   * A partner's backend, which sees only members actively enrolled with this partner. Its key is
   * known only in the gateway's process.
   */
  | { kind: 'partner'; partnerId: string; keyId?: string }
  /**
   * A signed-in member. `partnerId` is the partner that holds the token, if any. `scopes` are those
   * of an app that may not see all fields, separated by spaces; without them, a token shows all.
   */
  | { kind: 'member'; memberId: string; partnerId?: string; scopes?: string }
  /** The gateway itself: readiness, signing keys, the sign-in page. */
  | { kind: 'service' };

/** A GraphQL operation for a subgraph. `query` comes from the gateway, never from a client. */
export type SubgraphRequest = {
  query: string;
  variables?: Record<string, unknown> | undefined;
  operationName?: string | undefined;
  /** A browser's or an app's request to hand over; `query` is empty, and `data` is the response. */
  forwarded?: IdentityRequest | undefined;
  caller: Caller;
  requestId: string;
  /** In a sandbox: the time to answer as of, in milliseconds since 1970, if it is not now. */
  sandboxNow?: number | undefined;
  /**
   * Set if the operation asks for entities: the type of each, in order, or undefined if it may be
   * another one. A subgraph in another process that returns other entities fails the operation.
   */
  entityTypes?: readonly unknown[] | undefined;
  /** Set if a subgraph of another team is asked. */
  reading?: Reading | undefined;
  /** The span of this call, in the gateway. */
  trace?: Trace | undefined;
  /** The trace that the operation belongs to, in a subgraph's process, if it came in a batch. */
  received?: ReceivedHeaders | undefined;
};

/** What the response to an operation may take of the process that has asked. */
export type Reading = {
  /** Waits until a response may be read; undefined if it may now. */
  turn(): Promise<void> | undefined;
  /** Counts bytes that have come; false if they are too many. */
  takes(bytes: number): boolean;
};

/**
 * A subgraph's error in transit. It is masked already: code and message are safe for callers. The
 * code is one of the table, or one that the subgraph was published with.
 */
export type SubgraphError = {
  message: string;
  path?: readonly (string | number)[];
  extensions: { code: string } & ErrorDetails;
};

export type SubgraphResponse = {
  data?: Record<string, unknown> | null | undefined;
  errors?: SubgraphError[];
};

/** Reaches one subgraph. `execute` never rejects: a failure comes back as an error with a code. */
export type Transport = {
  /** Set if the subgraph is in this process, which is then ready only if the subgraph is. */
  isLocal?: true;
  /** Whether its circuit is open, so that every call fails at once. */
  isGivenUp?(): boolean;
  execute(request: SubgraphRequest): SubgraphResponse | Promise<SubgraphResponse>;
  /**
   * Resolves if the subgraph answers `{__typename}` to the service, rejects otherwise. The
   * subgraphs of this repository then check their stores; another one says what it likes.
   */
  ready(): Promise<StoreState>;
  close(): Promise<void>;
};
