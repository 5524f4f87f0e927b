// Parses a client's document and measures it before anything is spent on it; every step is linear in the document, fragments included.
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
} from 'graphql';
import { INTROSPECTION_FIELDS } from './introspection.ts';

/** The limits of an operation (contract, section 1, OPERATION_TOO_COMPLEX). */
export const LIMITS = {
  tokens: 1_000,
  rootFields: 10,
  selections: 1_000,
  depth: 8,
  introspectionDepth: 15,
} as const;

/** One operation of a document, measured. */
export type Operation = {
  node: OperationDefinitionNode;
  /** Root fields with fragments expanded, each alias counted, @skip and @include ignored: what the operation costs. */
  rootFields: number;
  /** Whether `__schema` or `__type` stands anywhere in it. */
  introspects: boolean;
  /** The limit it passes, as a text for the caller. */
  excess?: string;
};

export type Parsed =
  | { kind: 'document'; document: DocumentNode; operations: Operation[] }
  | { kind: 'syntax'; error: GraphQLError }
  | { kind: 'tokens'; message: string };

/** Parses and measures a document. Reads at most LIMITS.tokens tokens of it. */
export function parseDocument(query: string): Parsed {
  let document: DocumentNode;
  try {
    document = parse(query, { maxTokens: LIMITS.tokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return error.message.includes('Parsing aborted')
      ? { kind: 'tokens', message: `the document has more than ${LIMITS.tokens} tokens` }
      : { kind: 'syntax', error };
  }
  const measure = createMeasure(document);
  const operations = document.definitions
    .filter((node) => node.kind === Kind.OPERATION_DEFINITION)
    .map((node) => measured(node, measure));
  return { kind: 'document', document, operations };
}

/** The operation a request means: the named one, or the only one. Undefined where there is no such operation or the choice is open. */
export function pickOperation(
  operations: readonly Operation[],
  operationName: string | undefined,
): Operation | undefined {
  if (operationName === undefined) return operations.length === 1 ? operations[0] : undefined;
  return operations.find(({ node }) => node.name?.value === operationName);
}

// What a selection set amounts to once its fragments are expanded.
type Size = {
  fields: number;
  selections: number;
  /** Nesting of fields, not counting what lies inside introspection. */
  depth: number;
  /** Nesting of all fields: what counts where this stands inside introspection. */
  fullDepth: number;
  introspections: number;
  introspectionDepth: number;
  /** Whether one of LISTS stands in it, and whether one stands within another. */
  lists: boolean;
  nestedLists: boolean;
  /** Whether lists are nested inside introspection. */
  nestedIntrospection: boolean;
};

// Each of these makes introspection's answer longer by a factor; nested they multiply.
const LISTS = new Set(['fields', 'inputFields', 'interfaces', 'possibleTypes']);

const NOTHING: Size = {
  fields: 0,
  selections: 0,
  depth: 0,
  fullDepth: 0,
  introspections: 0,
  introspectionDepth: 0,
  lists: false,
  nestedLists: false,
  nestedIntrospection: false,
};

// Sizes fragments once each, so that fragments spreading fragments cost nothing extra; a cycle counts as empty, validation refuses it.
function createMeasure(document: DocumentNode): (set: SelectionSetNode | undefined) => Size {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  const sizes = new Map<string, Size>();
  const fragmentSize = (name: string): Size => {
    const known = sizes.get(name);
    if (known !== undefined) return known;
    sizes.set(name, NOTHING);
    const size = measure(fragments.get(name)?.selectionSet);
    sizes.set(name, size);
    return size;
  };
  const measure = (set: SelectionSetNode | undefined): Size => {
    const total = { ...NOTHING };
    for (const selection of set?.selections ?? []) {
      total.selections += 1;
      if (selection.kind === Kind.FIELD)
        add(total, ofField(selection.name.value, measure(selection.selectionSet)));
      else
        add(
          total,
          selection.kind === Kind.FRAGMENT_SPREAD
            ? fragmentSize(selection.name.value)
            : measure(selection.selectionSet),
        );
    }
    return total;
  };
  return measure;
}

function ofField(name: string, child: Size): Size {
  const introspects = INTROSPECTION_FIELDS.has(name);
  const isList = LISTS.has(name);
  return {
    ...child,
    fields: 1,
    depth: introspects ? 1 : child.depth + 1,
    fullDepth: child.fullDepth + 1,
    introspections: child.introspections + (introspects ? 1 : 0),
    introspectionDepth: introspects ? child.fullDepth + 1 : child.introspectionDepth,
    lists: child.lists || isList,
    nestedLists: child.nestedLists || (isList && child.lists),
    nestedIntrospection: child.nestedIntrospection || (introspects && child.nestedLists),
  };
}

function add(total: Size, part: Size): void {
  total.fields += part.fields;
  total.selections += part.selections;
  total.depth = Math.max(total.depth, part.depth);
  total.fullDepth = Math.max(total.fullDepth, part.fullDepth);
  total.introspections += part.introspections;
  total.introspectionDepth = Math.max(total.introspectionDepth, part.introspectionDepth);
  total.lists ||= part.lists;
  total.nestedLists ||= part.nestedLists;
  total.nestedIntrospection ||= part.nestedIntrospection;
}

function measured(
  node: OperationDefinitionNode,
  measure: (set: SelectionSetNode) => Size,
): Operation {
  const size = measure(node.selectionSet);
  return {
    node,
    rootFields: size.fields,
    introspects: size.introspections > 0,
    excess: excessOf(size),
  };
}

function excessOf(size: Size): string | undefined {
  if (size.fields > LIMITS.rootFields)
    return `the operation has more than ${LIMITS.rootFields} root fields`;
  if (size.depth > LIMITS.depth) return `fields are nested more than ${LIMITS.depth} deep`;
  if (size.selections > LIMITS.selections)
    return `the operation has more than ${LIMITS.selections} selections`;
  if (size.introspections > 1) return '__schema and __type may stand once in an operation';
  if (size.introspectionDepth > LIMITS.introspectionDepth)
    return `introspection is nested more than ${LIMITS.introspectionDepth} deep`;
  if (size.nestedIntrospection)
    return `introspection nests one of the lists ${[...LISTS].join(', ')} in another`;
  return undefined;
}
