// Answers introspection from the surface's own schema with graphql-js; the federated executor never sees it.
import {
  type DocumentNode,
  execute,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** The root fields that introspection consists of. */
export const INTROSPECTION_FIELDS = new Set(['__schema', '__type']);

/** Splits a validated document of one operation, its first definition: what introspects, and the rest, undefined where nothing else is asked. */
export function splitIntrospection(document: DocumentNode): {
  introspection: DocumentNode;
  rest?: DocumentNode;
} {
  const introspection = only(document, ({ name }) => INTROSPECTION_FIELDS.has(name.value));
  const rest = only(document, ({ name }) => !INTROSPECTION_FIELDS.has(name.value));
  return hasFields(rest) ? { introspection, rest } : { introspection };
}

/** Answers what `splitIntrospection` set apart. The schema is all it reads: it neither waits nor fails, and the operation limits bound its size. */
export function introspect(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Record<string, unknown>,
): Record<string, unknown> {
  const answer = execute({ schema, document, variableValues: variables });
  if (answer instanceof Promise || answer.data === undefined || answer.data === null)
    throw new Error('introspection gave no data');
  return answer.data;
}

// The document with one operation, whose root fields are those wanted; fragments at its root are written out in place.
function only(document: DocumentNode, wanted: (field: FieldNode) => boolean): DocumentNode {
  const [node] = document.definitions;
  if (node?.kind !== Kind.OPERATION_DEFINITION) throw new Error('the operation comes first');
  const fragments = document.definitions.filter(
    (definition) => definition.kind === Kind.FRAGMENT_DEFINITION,
  );
  const byName = new Map<string, FragmentDefinitionNode>(
    fragments.map((fragment) => [fragment.name.value, fragment]),
  );
  const filter = (set: SelectionSetNode): SelectionSetNode => ({
    kind: Kind.SELECTION_SET,
    selections: set.selections.flatMap(keep),
  });
  const keep = (selection: SelectionNode): SelectionNode[] => {
    if (selection.kind === Kind.FIELD) return wanted(selection) ? [selection] : [];
    const inner =
      selection.kind === Kind.FRAGMENT_SPREAD ? byName.get(selection.name.value) : selection;
    if (inner === undefined) return [];
    const selectionSet = filter(inner.selectionSet);
    return selectionSet.selections.length === 0
      ? []
      : [{ kind: Kind.INLINE_FRAGMENT, directives: selection.directives, selectionSet }];
  };
  return {
    kind: Kind.DOCUMENT,
    definitions: [{ ...node, selectionSet: filter(node.selectionSet) }, ...fragments],
  };
}

function hasFields(document: DocumentNode): boolean {
  const [operation] = document.definitions;
  return (
    operation?.kind === Kind.OPERATION_DEFINITION && operation.selectionSet.selections.length > 0
  );
}
