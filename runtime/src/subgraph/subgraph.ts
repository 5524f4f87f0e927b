// What a subgraph is, as plain data, and how it is asked: the types that the gateway, the transports and the subgraphs share.
import type { GraphQLSchema } from 'graphql';
import type { ErrorCode } from '../errors.ts';

/** On whose behalf a subgraph is asked. The gateway derives it from the credential, never from an argument. */
export type Scope =
  /** A partner backend: sees only members actively enrolled with this partner. */
  | { kind: 'partner'; partnerId: string }
  /** A signed-in member. `partnerId` is set where the token's `azp` names the partner that holds it. */
  | { kind: 'member'; memberId: string; partnerId?: string }
  /** The gateway itself: readiness, signing keys, the sign-in page. */
  | { kind: 'service' };

/** One GraphQL operation for a subgraph. `query` is a document of the query planner or of the gateway, never of a client. */
export type SubgraphRequest = {
  query: string;
  variables?: Record<string, unknown>;
  operationName?: string;
  scope: Scope;
  requestId: string;
};

/** A subgraph's error as it crosses a transport: already masked, so code and message are safe for the caller. */
export type SubgraphError = {
  message: string;
  path?: readonly (string | number)[];
  extensions: { code: ErrorCode };
};

export type SubgraphReply = { data?: Record<string, unknown> | null; errors?: SubgraphError[] };

/** Reaches one subgraph. `execute` never rejects: what goes wrong comes back as an error with a code. */
export type Transport = {
  execute(request: SubgraphRequest): SubgraphReply | Promise<SubgraphReply>;
  /** Resolves when the subgraph and its store answer; rejects otherwise. */
  ready(): Promise<void>;
  close(): Promise<void>;
};

/** What resolvers receive as context. */
export type SubgraphContext = { scope: Scope; requestId: string };

/** A subgraph as plain data: built in a main file from its store, mounted in the gateway's process or by itself. */
export type Subgraph = {
  name: string;
  schema: GraphQLSchema;
  /** Resolves when the store answers; rejects otherwise. */
  ready(): Promise<void>;
  close(): Promise<void>;
};
