// Separates the introspection of an operation from what the subgraphs answer.
import { fragmentsOf } from '@partner-loyalty/runtime/cache/document.ts';
import {
  type DocumentNode,
  type FieldNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** The root fields of introspection (GraphQL, section 4.1). */
export const INTROSPECTION_FIELDS = new Set(['__schema', '__type']);

/**
 * Splits a document with one operation, its first definition, into its introspection and the rest.
 * Either is undefined if nothing of it is selected.
 */
export function splitIntrospection(document: DocumentNode) {
  const introspection = select(document, ({ name }) => INTROSPECTION_FIELDS.has(name.value));
  const rest = select(document, ({ name }) => !INTROSPECTION_FIELDS.has(name.value));
  return { introspection, rest };
}

// The document with only the wanted root fields; fragments spread at its root become inline.
function select(
  document: DocumentNode,
  wanted: (field: FieldNode) => boolean,
): DocumentNode | undefined {
  const [operation] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('the operation comes first');
  const fragments = fragmentsOf(document);
  const filter = (set: SelectionSetNode): SelectionSetNode => ({
    kind: Kind.SELECTION_SET,
    selections: set.selections.flatMap(keep),
  });
  const keep = (selection: SelectionNode): SelectionNode[] => {
    if (selection.kind === Kind.FIELD) return wanted(selection) ? [selection] : [];
    const inner =
      selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
    if (inner === undefined) return [];
    const selectionSet = filter(inner.selectionSet);
    if (selectionSet.selections.length === 0) return [];
    const { directives = [] } = selection;
    return [{ kind: Kind.INLINE_FRAGMENT, directives, selectionSet }];
  };
  const selectionSet = filter(operation.selectionSet);
  if (selectionSet.selections.length === 0) return undefined;
  const definitions = [{ ...operation, selectionSet }, ...fragments.values()];
  return { kind: Kind.DOCUMENT, definitions };
}
