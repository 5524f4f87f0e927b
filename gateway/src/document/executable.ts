// Turns one operation of a validated document into the form that a surface executes.
import { eachNode, fragmentsOf } from '@partner-loyalty/runtime/cache/document.ts';
import { jsonFields } from '@partner-loyalty/runtime/observe/log.ts';
import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  print,
  separateOperations,
  stripIgnoredCharacters,
} from 'graphql';
import type { Deprecations } from '../schema/deprecations.ts';
import {
  type DeprecatedUse,
  deprecatedUse,
  type InputVariable,
  inputVariablesOf,
} from './deprecateduse.ts';
import type { Operation } from './document.ts';
import { splitIntrospection } from './introspection.ts';
import type { RootField } from './lists.ts';
import { liftLiterals, withoutReservedName } from './literals.ts';
import { type VariableRules, variableRulesOf } from './variables.ts';

/** An anonymous operation with only the fragments it uses; its literals are variables. */
export type ExecutableOperation = {
  /** The part for the subgraphs; undefined if the operation only introspects. */
  federated: FederatedOperation | undefined;
  /** The part that graphql-js answers from the schema; undefined if it does not introspect. */
  introspection: DocumentNode | undefined;
  variables: VariableRules;
  /** The variables that are input objects or enums: which parts are used is in the values. */
  inputVariables: readonly InputVariable[];
  /** Undefined if it uses nothing deprecated, whatever the variables. */
  deprecated: DeprecatedUse | undefined;
  /** The response keys of all its fields, at any depth. */
  responseKeys: ReadonlySet<string>;
  /** The response keys of the root fields, in the order of the response. */
  rootResponseKeys: readonly string[];
  logged: string;
};

type FederatedOperation = {
  /** The document, printed without whitespace: the key of plans and shapes. */
  key: string;
  /** The values of the variables that stand for literals. */
  literals: Record<string, unknown>;
  /** The name that the variable RESERVED_NAME has in it, if there is one. */
  renamed: string | undefined;
};

/**
 * The executable form of an operation of a validated document. Without the operation's name and
 * literals, the caches of plans and of subgraphs neither grow with them nor hold callers' data.
 */
export function executableOperation(
  document: DocumentNode,
  operation: Operation,
  schema: GraphQLSchema,
  deprecations: Deprecations = new Map(),
): ExecutableOperation {
  const { node, introspects, rootFields } = operation;
  const { name: _name, ...anonymous } = node;
  const definitions = [anonymous, ...fragmentsOf(document).values()];
  const own = dropUnusedFragments({ kind: Kind.DOCUMENT, definitions });
  const { introspection, rest } = introspects
    ? splitIntrospection(own)
    : { introspection: undefined, rest: own };
  const inputVariables = inputVariablesOf(node.variableDefinitions ?? [], schema);
  const deprecated = deprecatedUse(own, inputVariables, schema, deprecations);
  return {
    federated: rest && federatedOperation(dropUnusedFragments(rest), schema),
    introspection,
    variables: variableRulesOf(own, node.variableDefinitions, schema),
    inputVariables,
    deprecated,
    responseKeys: responseKeysOf(own),
    rootResponseKeys: [...new Set(rootFields.map(({ responseKey }) => responseKey))],
    logged: loggedOperation(operation, rootFields, deprecated?.coordinates),
  };
}

function federatedOperation(document: DocumentNode, schema: GraphQLSchema): FederatedOperation {
  const { document: own, renamed } = withoutReservedName(document);
  const lifted = liftLiterals(own, schema);
  return { key: keyOf(lifted.document), literals: lifted.literals, renamed };
}

/** The document's text without ignored characters (GraphQL, section 2.1.7). */
export function keyOf(document: DocumentNode): string {
  const key = stripIgnoredCharacters(print(document));
  // V8 keeps a string that was built piece by piece as a tree of its pieces, ten times as large,
  // until something reads it.
  Number(key);
  return key;
}

// Fragments of other operations are not measured, but the planner would expand them all the same.
function dropUnusedFragments(document: DocumentNode): DocumentNode {
  if (document.definitions.length === 1) return document;
  const separated = separateOperations(document)[''];
  if (separated === undefined) throw new Error('the operation is anonymous');
  return separated;
}

function responseKeysOf(document: DocumentNode): ReadonlySet<string> {
  const keys = new Set<string>();
  eachNode(document, (node) => {
    if (node.kind === Kind.FIELD) keys.add((node.alias ?? node.name).value);
  });
  return keys;
}

const MAX_LOGGED = 10;

/** What a log line says of an operation, as JSON. The fields are ones of the schema. */
export function loggedOperation(
  { name: operation, hash: operationHash }: Operation,
  fields: readonly Pick<RootField, 'name'>[],
  used: readonly string[] = [],
): string {
  const rootFields = [...new Set(fields.map(({ name }) => name))];
  const deprecated = used.length === 0 ? undefined : used.slice(0, MAX_LOGGED);
  return jsonFields({ operation, operationHash, rootFields, deprecated });
}
