// Collects the selected fields of an object type, as execution does (GraphQL, section 6.3.2).
import { fragmentsOf } from '@partner-loyalty/runtime/cache/document.ts';
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** The fields of an object type that selection sets select, by response name. */
export type Collect = (
  type: GraphQLObjectType | GraphQLInterfaceType,
  sets: readonly SelectionSetNode[],
) => ReadonlyMap<string, FieldNode[]>;

/** Collects from a validated document; `variables` decide `@skip` and `@include`. */
export function createCollect(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Record<string, unknown>,
): Collect {
  const fragments = fragmentsOf(document);

  function collect(
    type: GraphQLObjectType | GraphQLInterfaceType,
    sets: readonly SelectionSetNode[],
    found: Map<string, FieldNode[]>,
  ): Map<string, FieldNode[]> {
    for (const selection of sets.flatMap((set) => set.selections)) {
      if (!isIncluded(selection, variables)) continue;
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value;
        found.set(name, [...(found.get(name) ?? []), selection]);
        continue;
      }
      const fragment =
        selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      if (fragment === undefined) continue;
      const condition = fragment.typeCondition?.name.value;
      if (condition === undefined || appliesTo(schema, condition, type))
        collect(type, [fragment.selectionSet], found);
    }
    return found;
  }

  return (type, sets) => collect(type, sets, new Map());
}

function isIncluded(
  { directives = [] }: SelectionNode,
  variables: Record<string, unknown>,
): boolean {
  return directives.every(({ name, arguments: [condition] = [] }) => {
    if (name.value !== 'skip' && name.value !== 'include') return true;
    const value = condition?.value;
    const holds =
      value?.kind === Kind.VARIABLE
        ? variables[value.name.value] === true
        : value?.kind === Kind.BOOLEAN && value.value;
    return holds === (name.value === 'include');
  });
}

function appliesTo(
  schema: GraphQLSchema,
  condition: string,
  type: GraphQLObjectType | GraphQLInterfaceType,
): boolean {
  const wanted = schema.getType(condition);
  return wanted === type || (isAbstractType(wanted) && schema.isSubType(wanted, type));
}
