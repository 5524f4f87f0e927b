// What a subgraph is, and what its resolvers know of a request.
import type { GraphQLSchema } from 'graphql';
import type { IdentityRequest, IdentityResponse } from '../signin/exchange.ts';
import type { StoreState } from '../store/outage.ts';
import type { Caller } from '../transport/types.ts';

/** The context of resolvers. `sandboxNow` is that of the request. */
export type SubgraphContext = {
  caller: Caller;
  requestId: string;
  sandboxNow?: number | undefined;
};

/** A subgraph as plain data: built in a main file from its store, and run in any process. */
export type Subgraph = {
  name: string;
  schema: GraphQLSchema;
  /** Handles the requests that gateways forward to it; undefined if it takes none. */
  forward?: ((request: IdentityRequest) => Promise<IdentityResponse>) | undefined;
  /** Resolves if the store responds, rejects otherwise. */
  ready(): Promise<StoreState>;
  close(): Promise<void>;
};
