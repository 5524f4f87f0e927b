// Collects the selected fields of an object type, as execution does (GraphQL, section 6.3.2).
import { fragmentsOf } from '@partner-loyalty/runtime/cache/document.ts';
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLAbstractType,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
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

/** By the name of a field in the data, the first type for each place where it is selected. */
export function selectedTypes(
  {
    schema,
    fragments,
    nameOf,
  }: {
    schema: GraphQLSchema;
    fragments: ReadonlyMap<string, FragmentDefinitionNode>;
    nameOf(field: FieldNode): string;
  },
  type: GraphQLAbstractType,
  sets: readonly SelectionSetNode[],
): ReadonlyMap<string | number, ReadonlySet<GraphQLObjectType>> {
  const selected = new Map<string, Set<GraphQLObjectType>>();
  // Fragments are at many places, and unions have many types.
  const known = new Map<readonly GraphQLObjectType[], Map<string, GraphQLObjectType[]>>();
  const typesOn = (types: readonly GraphQLObjectType[], name: string) => {
    const byName = known.get(types) ?? new Map<string, GraphQLObjectType[]>();
    known.set(types, byName);
    const on = schema.getType(name);
    const isOn = (each: GraphQLObjectType) =>
      isAbstractType(on) ? schema.isSubType(on, each) : on === each;
    const found = byName.get(name) ?? types.filter(isOn);
    byName.set(name, found);
    return found;
  };
  const select = (set: SelectionSetNode, types: readonly GraphQLObjectType[]) => {
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD) {
        const known = selected.get(nameOf(node)) ?? new Set();
        selected.set(nameOf(node), known);
        if (types[0] !== undefined) known.add(types[0]);
        continue;
      }
      const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
      if (fragment === undefined) continue;
      const on = fragment.typeCondition?.name.value;
      select(fragment.selectionSet, on === undefined ? types : typesOn(types, on));
    }
  };
  for (const set of sets) select(set, schema.getPossibleTypes(type));
  return selected;
}
