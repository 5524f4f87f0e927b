// Measures operations before any expensive work, in time linear in the document.
import { fragmentsOf } from '@partner-loyalty/runtime/cache/document.ts';
import { type DocumentNode, type FieldNode, Kind, type SelectionSetNode } from 'graphql';
import { INTROSPECTION_FIELDS } from './introspection.ts';
import { type RootField, rootFieldOf } from './lists.ts';

/** The limits of a document and its operations (docs/callers/errors.md). */
export const LIMITS = {
  tokens: 1_000,
  rootFields: 10,
  selections: 1_000,
  /** `@skip`, `@include` and other directives, after expanding fragments. */
  directives: 100,
  /** Of input objects among the variables. Absent ones count, too: graphql-js looks for each. */
  inputFields: 10_000,
  fragments: 50,
  depth: 8,
  introspectionDepth: 15,
  /** `__type` in an operation; `__schema` only once, and without these. */
  types: 10,
  /** From subgraphs, and the characters of these operations: a plan is made in one piece. */
  fetches: 256,
  fetched: 262_144,
  /** In characters: of a field, alias, argument, variable, fragment, operation or other name. */
  name: 128,
} as const;

/** Each of these fields multiplies the length of an introspection response. */
const MULTIPLYING_LISTS = new Set(['fields', 'inputFields', 'interfaces', 'possibleTypes']);

/** The size of a selection set once its fragments are expanded. */
type Size = typeof EMPTY;

const EMPTY = {
  fields: 0,
  selections: 0,
  directives: 0,
  /** The largest integer among the arguments; at least 1. */
  largestInteger: 1,
  /** How deep fields nest, not counting what is inside introspection. */
  depth: 0,
  /** How deep all fields nest: what counts if this set is inside introspection. */
  fullDepth: 0,
  /** `__schema` and `__type`. */
  introspections: 0,
  schemas: 0,
  introspectionDepth: 0,
  /** Whether it has one of MULTIPLYING_LISTS, and whether one is inside another. */
  lists: false,
  nestedLists: false,
  /** Whether lists nest inside introspection. */
  nestedIntrospection: false,
  /** The fields; incomplete over LIMITS.rootFields. */
  rootFields: [] as readonly RootField[],
};

/** Returns a function that measures selection sets of a document, each fragment once. */
export function createMeasure(
  document: DocumentNode,
): (set: SelectionSetNode | undefined) => Readonly<Size> {
  const fragments = fragmentsOf(document);
  const sizes = new Map<string, Readonly<Size>>();

  function measureFragment(name: string): Readonly<Size> {
    const known = sizes.get(name);
    if (known !== undefined) return known;
    sizes.set(name, EMPTY); // Validation refuses cycles; until then they add nothing.
    const size = measure(fragments.get(name)?.selectionSet);
    sizes.set(name, size);
    return size;
  }

  function measure(set: SelectionSetNode | undefined): Readonly<Size> {
    const total = { ...EMPTY };
    for (const selection of set?.selections ?? []) {
      total.selections += 1;
      total.directives += selection.directives?.length ?? 0;
      if (selection.kind === Kind.FIELD)
        add(total, sizeOfField(selection, measure(selection.selectionSet)));
      else if (selection.kind === Kind.FRAGMENT_SPREAD)
        add(total, measureFragment(selection.name.value));
      else add(total, measure(selection.selectionSet));
    }
    return total;
  }

  return measure;
}

function sizeOfField(field: FieldNode, child: Readonly<Size>): Size {
  const name = field.name.value;
  const introspects = INTROSPECTION_FIELDS.has(name);
  const isList = MULTIPLYING_LISTS.has(name);
  return {
    ...child,
    fields: 1,
    largestInteger: largestIntegerOf(field, child.largestInteger),
    depth: introspects ? 1 : child.depth + 1,
    fullDepth: child.fullDepth + 1,
    introspections: child.introspections + (introspects ? 1 : 0),
    schemas: child.schemas + (name === '__schema' ? 1 : 0),
    introspectionDepth: introspects ? child.fullDepth + 1 : child.introspectionDepth,
    lists: child.lists || isList,
    nestedLists: child.nestedLists || (isList && child.lists),
    nestedIntrospection: child.nestedIntrospection || (introspects && child.nestedLists),
    rootFields: [rootFieldOf(field)],
  };
}

function largestIntegerOf({ arguments: args = [] }: FieldNode, least: number): number {
  let largest = least;
  for (const { value } of args)
    if (value.kind === Kind.INT) largest = Math.max(largest, Number(value.value));
  return largest;
}

function add(total: Size, part: Readonly<Size>): void {
  total.fields += part.fields;
  total.selections += part.selections;
  total.directives += part.directives;
  total.largestInteger = Math.max(total.largestInteger, part.largestInteger);
  total.depth = Math.max(total.depth, part.depth);
  total.fullDepth = Math.max(total.fullDepth, part.fullDepth);
  total.introspections += part.introspections;
  total.schemas += part.schemas;
  total.introspectionDepth = Math.max(total.introspectionDepth, part.introspectionDepth);
  total.lists ||= part.lists;
  total.nestedLists ||= part.nestedLists;
  total.nestedIntrospection ||= part.nestedIntrospection;
  // Fragments can multiply fields without end, but no more than the limit are served.
  if (total.fields <= LIMITS.rootFields)
    total.rootFields = [...total.rootFields, ...part.rootFields];
}

/** The first limit that a size exceeds, as a message for the caller; undefined if there is none. */
export function excessOf(size: Readonly<Size>): string | undefined {
  if (size.fields > LIMITS.rootFields)
    return `the operation has more than ${LIMITS.rootFields} root fields`;
  if (size.depth > LIMITS.depth) return `fields are nested more than ${LIMITS.depth} deep`;
  if (size.selections > LIMITS.selections)
    return `the operation has more than ${LIMITS.selections} selections`;
  if (size.directives > LIMITS.directives)
    return `the operation has more than ${LIMITS.directives} directives`;
  if (size.schemas > 0 && size.introspections > 1)
    return 'an operation can have __schema only once, and without __type';
  if (size.introspections > LIMITS.types)
    return `an operation can have __type at most ${LIMITS.types} times`;
  if (size.introspectionDepth > LIMITS.introspectionDepth)
    return `introspection is nested more than ${LIMITS.introspectionDepth} deep`;
  if (size.nestedIntrospection)
    return `introspection nests one of the lists ${[...MULTIPLYING_LISTS].join(', ')} in another`;
  return undefined;
}
