// Where an entry of the reference is: its surface, whose types it links to.
import type { GraphQLSchema } from 'graphql';
import type { SurfaceName } from '../../planning/contract.ts';
import type { RootScopes } from '../../planning/scopes.ts';

export type Place = {
  surface: SurfaceName;
  schema: GraphQLSchema;
  /** What its root fields need; undefined if scopes do not limit its callers. */
  scopes?: RootScopes | undefined;
};
