// Collects the selected fields of an object type, as execution does (GraphQL, section 6.3.2).
import { fragmentsOf } from '@partner-loyalty/runtime/cache/document.ts';
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { collectFields } from 'graphql/execution/collectFields.js';

/** The fields of an object type that selection sets select, by response name. */
export type Collect = (
  type: GraphQLObjectType | GraphQLInterfaceType,
  sets: readonly SelectionSetNode[],
) => ReadonlyMap<string, readonly FieldNode[]>;

/** Collects from a validated document; `variables` decide `@skip` and `@include`. */
export function createCollect(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Record<string, unknown>,
): Collect {
  const fragments = Object.fromEntries(fragmentsOf(document));
  return (type, sets) =>
    // Cast: an interface is compared with the conditions of fragments in the same way.
    collectFields(schema, fragments, variables, type as GraphQLObjectType, {
      kind: Kind.SELECTION_SET,
      selections: sets.flatMap(({ selections }) => selections),
    });
}
