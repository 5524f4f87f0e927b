// Keeps of a team's response what its operation asks for, and nothing that nests without end.
import { type FragmentDefinitionNode, Kind, parse, type SelectionSetNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { fragmentsOf } from '../cache/document.ts';
import { isJsonObject } from '../input.ts';

/** In place of a value that nests too deeply: no type has such a value. */
export const TOO_DEEP = Symbol('nested too deeply');
/** Of lists and objects within each other: JSON.stringify and recursion fail at some thousands. */
const MAX_DEPTH = 500;
/** In characters of operations whose selections are remembered. */
const MAX_REMEMBERED = 100_000;

/** What is selected, whatever the type, by response name; a leaf has no selections. */
type Selected = Map<string, Selected | undefined>;

/** Returns what leaves of a response to an operation what the operation selects. */
export function createAsked() {
  const known = new LRUCache<string, Selected>({
    maxSize: MAX_REMEMBERED,
    sizeCalculation: (_, { length }) => length + 1,
    memoMethod: selectedIn,
  });
  return {
    /** The data, changed in place, with TOO_DEEP in place of what nests too deeply. */
    dataOf: (data: Record<string, unknown>, query: string) =>
      // Cast: an object stays one.
      kept(data, known.memo(query), 0) as Record<string, unknown>,
    /** An error's path, or that of the first root field if it begins with none. */
    pathOf(path: readonly (string | number)[], query: string): (string | number)[] {
      const selected = known.memo(query);
      let at: Selected | undefined = selected;
      const end = path.findIndex((step) => {
        if (typeof step === 'number') return at === selected;
        if (!at?.has(step)) return true;
        at = at.get(step);
        return false;
      });
      const asked = path.slice(0, end === -1 ? undefined : end);
      return asked.length > 0 ? asked : [...selected.keys()].slice(0, 1);
    },
  };
}

function selectedIn(query: string): Selected {
  const document = parse(query, { noLocation: true });
  const fragments = fragmentsOf(document);
  const selected: Selected = new Map();
  for (const node of document.definitions)
    if (node.kind === Kind.OPERATION_DEFINITION) select(node.selectionSet, fragments, selected);
  return selected;
}

function select(
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  to: Selected,
): void {
  for (const node of selections) {
    if (node.kind === Kind.FIELD) {
      const name = (node.alias ?? node.name).value;
      const below = to.get(name) ?? (node.selectionSet && new Map());
      to.set(name, below);
      if (node.selectionSet && below) select(node.selectionSet, fragments, below);
      continue;
    }
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
    if (fragment !== undefined) select(fragment.selectionSet, fragments, to);
  }
}

function kept(value: unknown, selected: Selected | undefined, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (selected === undefined) return isDeeper(value, MAX_DEPTH) ? TOO_DEEP : value;
  if (depth > MAX_DEPTH) return TOO_DEEP;
  if (Array.isArray(value)) {
    for (const [place, item] of value.entries()) value[place] = kept(item, selected, depth + 1);
    return value;
  }
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value);
  const own: Record<string, unknown> = names.every((name) => selected.has(name)) ? value : {};
  for (const name of names)
    if (selected.has(name)) own[name] = kept(value[name], selected.get(name), depth + 1);
  return own;
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((each) => isDeeper(each, depth - 1));
}
