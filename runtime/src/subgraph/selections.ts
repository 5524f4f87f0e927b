// Measures how large an operation is once its fragments are expanded.
import { type DocumentNode, Kind, type SelectionSetNode } from 'graphql';
import { fragmentsOf } from '../cache/document.ts';

/**
 * Counts the selections of a document's operations, with fragments expanded. Compiled code grows
 * with them, not with the document's text: a fragment that is spread ten times is compiled ten
 * times. Each fragment is measured once.
 */
export function expandedSelections(document: DocumentNode): number {
  const fragments = fragmentsOf(document);
  const measured = new Map<string, number>();

  const ofFragment = (name: string): number => {
    const known = measured.get(name);
    if (known !== undefined) return known;
    measured.set(name, 0); // Ends the recursion if the fragment contains itself.
    const size = ofSet(fragments.get(name)?.selectionSet);
    measured.set(name, size);
    return size;
  };
  const ofSet = (set: SelectionSetNode | undefined): number => {
    let size = 0;
    for (const selection of set?.selections ?? [])
      size +=
        1 +
        (selection.kind === Kind.FRAGMENT_SPREAD
          ? ofFragment(selection.name.value)
          : ofSet(selection.selectionSet));
    return size;
  };
  let total = 0;
  for (const node of document.definitions)
    if (node.kind === Kind.OPERATION_DEFINITION) total += ofSet(node.selectionSet);
  return total;
}
