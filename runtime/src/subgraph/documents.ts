// Parses, validates and prepares each document of a subgraph once.
import {
  assertValidSchema,
  type DocumentNode,
  type GraphQLSchema,
  OverlappingFieldsCanBeMergedRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import type { Caches } from '../cache/caches.ts';
import { bytesOfDocument, expandedSelections } from '../cache/document.ts';
import { createIsValid } from '../validity.ts';
import { type Operation, prepareOperation } from './execute.ts';

type CachedDocument = {
  document: DocumentNode;
  selections: number;
  operations: Map<string | undefined, Operation>;
};

/** Measured (test/memory): of what is prepared. */
const BYTES_PER_SELECTION = 1_536;
/**
 * The gateway has compared the fields of its callers' documents, which takes most of the time of a
 * validation.
 */
const RULES = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);
const isValid = createIsValid(RULES);

/**
 * Returns a function that finds or prepares an operation of a text, by its name unless it is the
 * only one. It throws a GraphQLError if the text is invalid.
 */
export function createDocuments(
  schema: GraphQLSchema,
  caches: Caches,
): (query: string, operationName: string | undefined) => Operation {
  const cache = caches.open<CachedDocument>(
    ({ document, selections }) => bytesOfDocument(document) + selections * BYTES_PER_SELECTION,
  );

  return (query, operationName) => {
    let cached = cache.get(query);
    if (cached === undefined) {
      const document = parseValid(schema, query);
      cached = { document, selections: expandedSelections(document), operations: new Map() };
      cache.set(query, cached);
    }
    const { document, operations } = cached;
    const operation =
      operations.get(operationName) ?? prepareOperation(schema, document, operationName);
    operations.set(operationName, operation);
    return operation;
  };
}

// Nobody reads the locations in errors of a subgraph.
function parseValid(schema: GraphQLSchema, query: string): DocumentNode {
  assertValidSchema(schema); // isValid does not.
  const document = parse(query, { noLocation: true });
  if (isValid(schema, document)) return document;
  const [error] = validate(schema, document, RULES);
  if (error !== undefined) throw error;
  return document;
}
