// Where an entry of the reference is: its surface, whose types it links to.
import type { GraphQLSchema } from 'graphql';
import type { RootScopes } from '../../schema/scopes.ts';
import type { SurfaceName } from '../../schema/surfaces.ts';

export type Place = {
  surface: SurfaceName;
  schema: GraphQLSchema;
  /** What its root fields need; undefined if scopes do not limit its callers. */
  scopes?: RootScopes | undefined;
};
