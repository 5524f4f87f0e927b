// Turns a measured document into what a surface executes: validated once, cached within bounds, and free of the caller's literals.

import { fail, type Metrics } from '@partner-loyalty/runtime';
import {
  type ASTNode,
  type DocumentNode,
  type FloatValueNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  getNamedType,
  getVariableValues,
  type IntValueNode,
  isLeafType,
  isNonNullType,
  Kind,
  parseType,
  print,
  type SelectionSetNode,
  type StringValueNode,
  separateOperations,
  stripIgnoredCharacters,
  TypeInfo,
  type TypeNode,
  type ValueNode,
  type VariableDefinitionNode,
  validate,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { type Operation, type Parsed, parseDocument } from './document.ts';
import { splitIntrospection } from './introspection.ts';
import { GraphqlRequestError } from './requesterror.ts';

/** A document as kept between requests: parsed, measured, and what each schema that saw it said. */
export type Cached = {
  parsed: Parsed;
  hasLiterals: boolean;
  validated: WeakMap<GraphQLSchema, readonly GraphQLError[]>;
  prepared: WeakMap<Operation, ExecutableOperation>;
};

/** One operation, ready to execute: anonymous, alone but for its fragments, with its literals turned into variables. */
export type ExecutableOperation = {
  /** What goes to the surface's executor; undefined where the operation only introspects. */
  document?: DocumentNode;
  /** The same for the same executable document. */
  key: string;
  literals: Record<string, unknown>;
  /** What graphql-js answers from the schema; undefined where the operation does not introspect. */
  introspection?: DocumentNode;
  /** The names under which the caller asked for fields, at any depth. */
  names: ReadonlySet<string>;
  /** Those of the root, in their order. */
  rootNames: readonly string[];
  /** Nullable variables that stand where null may not, which their default allows (GraphQL, section 5.8.5). */
  neverNull: readonly string[];
};

export type Documents = { read(query: string): Cached; keep(query: string, cached: Cached): void };

// Entries are chosen by callers, so both numbers are bounds on what they can make this process hold.
const MAX_ENTRIES = 2_000;
const MAX_BYTES = 64 * 1024 * 1024;
// What a parsed document was seen to take, for each character of its text.
const BYTES_PER_CHARACTER = 64;

/**
 * The documents of this process by their text. Only `keep` stores; a document with literals is never kept, because literals are the
 * caller's data: addresses, names, identifiers.
 */
export function createDocuments(metrics: Pick<Metrics, 'documentCache'>): Documents {
  const cache = new LRUCache<string, Cached>({
    max: MAX_ENTRIES,
    maxSize: MAX_BYTES,
    // Each operation is kept once more, ready to execute, and with its fragments is at most as long as the document.
    sizeCalculation: ({ parsed }, query) =>
      1_024 +
      query.length *
        BYTES_PER_CHARACTER *
        (parsed.kind === 'document' ? 1 + parsed.operations.length : 1),
  });
  return {
    read: (query) => {
      const known = cache.get(query);
      metrics.documentCache(known === undefined ? 'miss' : 'hit');
      if (known !== undefined) return known;
      const parsed = parseDocument(query);
      return {
        parsed,
        hasLiterals: parsed.kind === 'document' && hasLiterals(parsed.document),
        validated: new WeakMap(),
        prepared: new WeakMap(),
      };
    },
    keep: (query, cached) => {
      if (!cached.hasLiterals) cache.set(query, cached);
    },
  };
}

/** The parsed document and its operations. Throws OPERATION_TOO_COMPLEX or GRAPHQL_PARSE_FAILED where it is none. */
export function requireParsed({ parsed }: Cached): Extract<Parsed, { kind: 'document' }> {
  if (parsed.kind === 'tokens') fail('OPERATION_TOO_COMPLEX', parsed.message);
  if (parsed.kind === 'syntax')
    throw new GraphqlRequestError('GRAPHQL_PARSE_FAILED', [parsed.error]);
  return parsed;
}

/** Throws GRAPHQL_VALIDATION_FAILED with every fault; validates once for each document and schema. */
export function checkDocument(cached: Cached, document: DocumentNode, schema: GraphQLSchema): void {
  let faults = cached.validated.get(schema);
  if (faults === undefined) {
    faults = [
      ...validate(schema, withoutRepetitions(document)),
      ...rootlessOperations(document, schema),
    ];
    cached.validated.set(schema, faults);
  }
  // graphql-js gives up on comparing fields for overlaps before it takes long.
  if (faults.some(({ message }) => message === 'Validation aborted.'))
    fail('OPERATION_TOO_COMPLEX', 'the operation repeats too many fields');
  if (faults.length > 0) throw new GraphqlRequestError('GRAPHQL_VALIDATION_FAILED', faults);
}

// A field said again beside itself asks for nothing more, but graphql-js compares every two of them, and gives up after some hundred.
function withoutRepetitions(document: DocumentNode): DocumentNode {
  return visit(document, {
    SelectionSet(set) {
      const seen = new Set<string>();
      const selections = set.selections.filter((node) => {
        if (
          node.kind !== Kind.FIELD ||
          node.selectionSet ||
          node.arguments?.length ||
          node.directives?.length
        )
          return true;
        const said = `${node.alias?.value ?? ''}:${node.name.value}`;
        return seen.size < seen.add(said).size;
      });
      return selections.length === set.selections.length ? undefined : { ...set, selections };
    },
  });
}

// graphql-js leaves it to the execution to notice that a schema has no subscriptions or no mutations.
function rootlessOperations(document: DocumentNode, schema: GraphQLSchema): GraphQLError[] {
  return document.definitions.flatMap((node) =>
    node.kind === Kind.OPERATION_DEFINITION && !schema.getRootType(node.operation)
      ? [new GraphQLError(`The schema has no ${node.operation} type.`, { nodes: node })]
      : [],
  );
}

/** The variables with the operation's defaults. Throws BAD_USER_INPUT where they do not fit its definitions. */
export function checkVariables(
  schema: GraphQLSchema,
  { node }: Operation,
  { neverNull }: ExecutableOperation,
  variables: Record<string, unknown>,
): Record<string, unknown> {
  if (node.variableDefinitions === undefined || node.variableDefinitions.length === 0) return {};
  const { errors, coerced = {} } = getVariableValues(schema, node.variableDefinitions, variables, {
    maxErrors: 10,
  });
  if (errors !== undefined) throw new GraphqlRequestError('BAD_USER_INPUT', errors);
  const missing = neverNull.find((name) => variables[name] === null);
  if (missing !== undefined)
    fail('BAD_USER_INPUT', `Variable "$${missing}" stands where null is not allowed.`);
  return coerced;
}

/** The executable form of a validated operation. */
export function prepared(
  cached: Cached,
  document: DocumentNode,
  operation: Operation,
  schema: GraphQLSchema,
): ExecutableOperation {
  let result = cached.prepared.get(operation);
  if (result === undefined) {
    result = prepare(document, operation, schema);
    cached.prepared.set(operation, result);
  }
  return result;
}

function isLiteral(node: ASTNode): node is StringValueNode | IntValueNode | FloatValueNode {
  return node.kind === Kind.STRING || node.kind === Kind.INT || node.kind === Kind.FLOAT;
}

function hasLiterals(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    enter: (node) => {
      if (isLiteral(node)) found = true;
      return undefined;
    },
  });
  return found;
}

// Anonymous, so that the plan and the subgraphs' caches do not grow with the names callers give; without literals, so that they do not
// grow with the arguments and hold none of them.
function prepare(
  document: DocumentNode,
  { node, introspects }: Operation,
  schema: GraphQLSchema,
): ExecutableOperation {
  const { name: _name, ...anonymous } = node;
  const alone = dropUnusedFragments({
    kind: Kind.DOCUMENT,
    definitions: [anonymous, ...fragmentsOf(document)],
  });
  const fragments = fragmentsOf(alone);
  const names = new Set<string>();
  visit(alone, { Field: ({ alias, name }) => void names.add((alias ?? name).value) });
  const rootNames = rootNamesOf(node.selectionSet, fragments);
  const neverNull = neverNullOf(alone, node.variableDefinitions, schema);
  const { introspection, rest } = introspects ? splitIntrospection(alone) : { rest: alone };
  if (rest === undefined)
    return { introspection, key: '', literals: {}, names, rootNames, neverNull };
  const { lifted, literals } = liftLiterals(dropUnusedFragments(rest), schema);
  return {
    introspection,
    document: lifted,
    key: stripIgnoredCharacters(print(lifted)),
    literals,
    names,
    rootNames,
    neverNull,
  };
}

function fragmentsOf(document: DocumentNode): FragmentDefinitionNode[] {
  return document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
}

// Without the fragments that only other operations use: nobody has measured those, and the planner would expand them all the same.
function dropUnusedFragments(document: DocumentNode): DocumentNode {
  const separated = separateOperations(document)[''];
  if (separated === undefined) throw new Error('the operation is anonymous');
  return separated;
}

function neverNullOf(
  document: DocumentNode,
  definitions: readonly VariableDefinitionNode[] = [],
  schema: GraphQLSchema,
): string[] {
  const nullable = definitions
    .filter(({ type }) => type.kind !== Kind.NON_NULL_TYPE)
    .map(({ variable }) => variable.name.value);
  if (nullable.length === 0) return nullable;
  const strict = new Set<string>();
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Variable: ({ name }) =>
        isNonNullType(types.getInputType()) ? void strict.add(name.value) : undefined,
    }),
  );
  return nullable.filter((name) => strict.has(name));
}

function rootNamesOf(
  root: SelectionSetNode,
  fragments: readonly FragmentDefinitionNode[],
): string[] {
  const unread = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  const read = ({ selections }: SelectionSetNode): string[] =>
    selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [(selection.alias ?? selection.name).value];
      if (selection.kind === Kind.INLINE_FRAGMENT) return read(selection.selectionSet);
      const fragment = unread.get(selection.name.value);
      unread.delete(selection.name.value);
      return fragment === undefined ? [] : read(fragment.selectionSet);
    });
  return [...new Set(read(root))];
}

function liftLiterals(document: DocumentNode, schema: GraphQLSchema) {
  const literals: Record<string, unknown> = {};
  const definitions: VariableDefinitionNode[] = [];
  const taken = new Set<string>();
  visit(document, { Variable: (variable) => void taken.add(variable.name.value) });
  const types = new TypeInfo(schema);
  const lift = (value: ValueNode) => {
    const type = types.getInputType();
    if (type === null || type === undefined || !isLeafType(getNamedType(type))) return undefined;
    const name = freeName(taken);
    literals[name] = valueFromAST(value, isNonNullType(type) ? type.ofType : type);
    const variable = { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } } as const;
    definitions.push({
      kind: Kind.VARIABLE_DEFINITION,
      variable,
      type: asNonNull(parseType(String(type))),
    });
    return variable;
  };
  const lifted = visit(
    document,
    visitWithTypeInfo(types, {
      // Introspection is answered apart, and a variable's default stays with its definition.
      enter: (node) => {
        if (node.kind === Kind.VARIABLE_DEFINITION || node.kind === Kind.DIRECTIVE) return false;
        if (node.kind === Kind.FIELD && node.name.value.startsWith('__')) return false;
        return isLiteral(node) ? lift(node) : undefined;
      },
    }),
  );
  const [operation, ...rest] = lifted.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION)
    throw new Error('an operation stays the first definition');
  const complete = {
    ...operation,
    variableDefinitions: [...(operation.variableDefinitions ?? []), ...definitions],
  };
  return {
    lifted: { kind: Kind.DOCUMENT, definitions: [complete, ...rest] } satisfies DocumentNode,
    literals,
  };
}

function freeName(taken: Set<string>): string {
  let number = taken.size;
  while (taken.has(`literal${number}`)) number += 1;
  const name = `literal${number}`;
  taken.add(name);
  return name;
}

function asNonNull(type: TypeNode): TypeNode {
  return type.kind === Kind.NON_NULL_TYPE ? type : { kind: Kind.NON_NULL_TYPE, type };
}
