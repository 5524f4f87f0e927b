// The root fields of an operation.
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionSetNode,
} from 'graphql';

/** In the order of the document, with fragments expanded; each named fragment is read once. */
export function rootFieldsOf(
  root: SelectionSetNode,
  fragments: readonly FragmentDefinitionNode[],
): FieldNode[] {
  const unread = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  const read = ({ selections }: SelectionSetNode): FieldNode[] =>
    selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection];
      if (selection.kind === Kind.INLINE_FRAGMENT) return read(selection.selectionSet);
      const fragment = unread.get(selection.name.value);
      unread.delete(selection.name.value);
      return fragment === undefined ? [] : read(fragment.selectionSet);
    });
  return read(root);
}

export function fragmentsOf({ definitions }: DocumentNode): FragmentDefinitionNode[] {
  return definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
}
