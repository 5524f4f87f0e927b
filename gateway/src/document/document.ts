// A client's document: parsed and measured once, then reused for every request with the same text.
import { hash } from 'node:crypto';
import { eachNode } from '@partner-loyalty/runtime/cache/document.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { withoutSecrets } from '@partner-loyalty/runtime/observe/secrets.ts';
import {
  type DocumentNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
} from 'graphql';
import { type RootField, withVariables } from './lists.ts';
import { containsLiterals, withoutLiterals } from './literals.ts';
import { createMeasure, excessOf, LIMITS } from './measure.ts';
import { GraphqlRequestError } from './validation.ts';

export type Operation = {
  node: OperationDefinitionNode;
  /** For logs, metrics and traces: the first 64 characters, without a key or token. */
  name: string | undefined;
  hash: string;
  /**
   * What the operation costs depends on its root fields: with fragments expanded, each alias
   * counted, `@skip` and `@include` ignored.
   */
  rootFields: readonly RootField[];
  /** With fragments expanded. */
  selections: number;
  /** The largest integer among the arguments in the document; at least 1. */
  largestInteger: number;
  /** Whether `__schema` or `__type` occurs anywhere in it. */
  introspects: boolean;
  /** The limit it exceeds, as a message for the caller. */
  excess: string | undefined;
};

export type ClientDocument = {
  text: string;
  node: DocumentNode;
  operations: readonly Operation[];
  containsLiterals: boolean;
  /** How often requests have had it, of late. */
  uses: number;
};

/**
 * Parses and measures a document, reading at most LIMITS.tokens tokens of it. Throws
 * OPERATION_TOO_COMPLEX if it has more, too many fragments or too long a name, and
 * GRAPHQL_PARSE_FAILED if it is not GraphQL.
 */
export function parseDocument(text: string): ClientDocument {
  const node = parseText(text);
  // Descriptions count: with them, the text is not cached.
  const hasLiterals = containsLiterals(node);
  forgetDescriptions(node);
  refuseLongNames(node);
  refuseManyFragments(node);
  const measure = createMeasure(node);
  const documentHash = hashOf(hasLiterals ? withoutLiterals(node) : node);
  const operations = node.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .map((definition): Operation => {
      const size = measure(definition.selectionSet);
      return {
        node: definition,
        name: loggedName(definition),
        hash: documentHash,
        rootFields: withVariables(size.rootFields, definition),
        selections: size.selections,
        largestInteger: size.largestInteger,
        introspects: size.introspections > 0,
        excess: excessOf(size),
      };
    });
  return { text, node, operations, containsLiterals: hasLiterals, uses: 1 };
}

/** In characters, of an operation's name in logs, metrics and traces. */
const LOGGED_NAME = 64;

/** Copied: it is kept for longer than the document, of which it would be a slice. */
function loggedName({ name }: OperationDefinitionNode): string | undefined {
  return name && Buffer.from(withoutSecrets(name.value).slice(0, LOGGED_NAME)).toString();
}

/**
 * The first 16 hexadecimal digits of the SHA-256 of a document's canonical form. The document must
 * be without literals, which are the caller's data.
 */
function hashOf(node: DocumentNode): string {
  return hash('sha256', print(node)).slice(0, 16);
}

/** The document with locations for errors, parsed again if the cache has taken them away. */
export function locatedNode({ node, text }: ClientDocument): DocumentNode {
  return node.loc === undefined ? parseText(text) : node;
}

function parseText(text: string): DocumentNode {
  try {
    return parse(text, { maxTokens: LIMITS.tokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    if (error.message.includes('Parsing aborted'))
      fail('OPERATION_TOO_COMPLEX', `the document has more than ${LIMITS.tokens} tokens`);
    throw new GraphqlRequestError('GRAPHQL_PARSE_FAILED', [error]);
  }
}

// Descriptions do not change what a document does, so its hash must not depend on them either.
function forgetDescriptions(document: DocumentNode): void {
  eachNode(document, (node) => {
    // Cast: in graphql-js, the properties of nodes are read-only.
    if ('description' in node) (node as { description?: unknown }).description = undefined;
  });
}

// Callers choose names, and responses and errors repeat them.
function refuseLongNames(document: DocumentNode): void {
  eachNode(document, (node) => {
    if (node.kind === Kind.NAME && node.value.length > LIMITS.name)
      fail('OPERATION_TOO_COMPLEX', `a name has more than ${LIMITS.name} characters`);
  });
}

// Validation and planning take each fragment's time for each of the others.
function refuseManyFragments({ definitions }: DocumentNode): void {
  const count = definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).length;
  if (count > LIMITS.fragments)
    fail('OPERATION_TOO_COMPLEX', `the document has more than ${LIMITS.fragments} fragments`);
}

/**
 * The operation that a request selects: the named one, or the only one. Undefined if there is no
 * such operation or several to choose from (GraphQL, section 6.1).
 */
export function selectOperation(
  { operations }: ClientDocument,
  operationName: string | undefined,
): Operation | undefined {
  if (operationName === undefined) return operations.length === 1 ? operations[0] : undefined;
  return operations.find(({ node }) => node.name?.value === operationName);
}
