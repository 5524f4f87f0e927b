// The root fields of operations, which an error without a path can be about.
import { fragmentsOf } from '@partner-loyalty/runtime/cache/document.ts';
import { Kind, parse, type SelectionSetNode } from 'graphql';

/** The root fields of an operation, by their names in the response. */
export function rootsOf(operation: string): string[] {
  const document = parse(operation, { noLocation: true });
  const fragments = fragmentsOf(document);
  const namesIn = ({ selections }: SelectionSetNode): string[] =>
    selections.flatMap((node) => {
      if (node.kind === Kind.FIELD) return (node.alias ?? node.name).value;
      const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
      return fragment === undefined ? [] : namesIn(fragment.selectionSet);
    });
  return document.definitions.flatMap((node) =>
    node.kind === Kind.OPERATION_DEFINITION ? namesIn(node.selectionSet) : [],
  );
}
