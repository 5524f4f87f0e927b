// Walks parsed documents, and says how much memory the caches need to keep one.
import {
  type ASTNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type Location,
  type SelectionSetNode,
} from 'graphql';

// Measured (test/memory). A list that is not empty has room for 17 items in V8.
const BYTES_PER_NODE = 128;
const BYTES_PER_LIST = 192;

/** The bytes of a document, or of a part of one, without locations and without its text. */
export function bytesOfDocument(part: unknown): number {
  // A visitor of graphql-js takes several times as long. Documents nest as their parser does.
  if (typeof part !== 'object' || part === null) return 0;
  if (Array.isArray(part))
    return part.reduce((sum, item) => sum + bytesOfDocument(item), part.length && BYTES_PER_LIST);
  let bytes = BYTES_PER_NODE;
  for (const name in part)
    if (name !== 'loc') bytes += bytesOfDocument((part as Record<string, unknown>)[name]);
  return bytes;
}

/**
 * Takes away the locations of a document's nodes, in place. They hold the list of its tokens, which
 * is twice as large as all the rest. Variables keep theirs, without tokens, because errors about
 * their values name them.
 */
export function forgetLocations(document: DocumentNode): void {
  eachNode(document, (node) => {
    // Cast: in graphql-js, the properties of nodes are read-only.
    const located = node as { loc?: Pick<Location, 'start' | 'end' | 'source'> | undefined };
    const { loc } = located;
    located.loc =
      loc && node.kind === Kind.VARIABLE_DEFINITION
        ? { start: loc.start, end: loc.end, source: loc.source }
        : undefined;
  });
}

/** The fragments of a document, by name. */
export function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  return fragments;
}

/**
 * Calls `use` with a node and then with each node in it, in the order of the text. A visitor of
 * graphql-js, which looks up every kind of node first, takes several times as long.
 */
export function eachNode(node: ASTNode, use: (node: ASTNode) => void): void {
  use(node);
  for (const name in node) {
    const part = partOf(node, name);
    if (part === undefined) continue;
    if (isNode(part)) eachNode(part, use);
    else for (const item of part) eachNode(item, use);
  }
}

/** The node or list of nodes that a node has under this name, if any; never its location. */
export function partOf(node: ASTNode, name: string): ASTNode | readonly ASTNode[] | undefined {
  // Cast: nodes are plain objects.
  const part = (node as unknown as Record<string, ASTNode | readonly ASTNode[] | undefined>)[name];
  return typeof part === 'object' && part !== null && name !== 'loc' ? part : undefined;
}

export function isNode(part: ASTNode | readonly ASTNode[]): part is ASTNode {
  return !Array.isArray(part);
}

/** The names of the variables that decide `@skip` and `@include`. */
export function conditionsOf(document: DocumentNode): string[] {
  const names = new Set<string>();
  eachNode(document, (node) => {
    const condition = node.kind === Kind.DIRECTIVE ? node.arguments?.[0]?.value : undefined;
    if (condition?.kind === Kind.VARIABLE) names.add(condition.name.value);
  });
  return [...names];
}

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
