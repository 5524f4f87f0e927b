// Parses and validates each document of a subgraph once, and compiles those that recur.
import {
  assertValidSchema,
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  OverlappingFieldsCanBeMergedRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Caches } from '../cache/caches.ts';
import { bytesOfDocument } from '../cache/document.ts';
import { createIsValid } from '../validity.ts';
import { expandedSelections } from './selections.ts';

/** `compiled` is undefined if graphql-js has to execute the document. */
export type CachedDocument = {
  document: DocumentNode;
  selections: number;
  uses: number;
  compiled: CompiledQuery | undefined;
};

/** Measured (test/memory): of compiled code, and what graphql-jit keeps beside it. */
const BYTES_PER_COMPILED = 12_288;
const BYTES_PER_COMPILED_SELECTION = 6_144;

/**
 * Compiling takes several times as long as executing, so it does not pay for a text that does not
 * recur. One request sends the same text up to 10 times, once for each of its root fields.
 */
export const COMPILE_ON_USE = 12;
/**
 * The gateway has compared the fields of its callers' documents, which takes most of the time of a
 * validation.
 */
const RULES = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);
const isValid = createIsValid(RULES);
/** Compiling 20 selections takes about 1 ms. */
const MAX_COMPILED_SELECTIONS = 250;

/**
 * Returns a function that finds or creates the cached document of a text. It throws a GraphQLError
 * if the text is invalid.
 */
export function createDocuments(
  schema: GraphQLSchema,
  caches: Caches,
): (query: string) => CachedDocument {
  const cache = caches.open(weigh);

  return (query) => {
    let cached = cache.get(query);
    if (cached === undefined) {
      const document = parseValid(schema, query);
      cached = { document, selections: expandedSelections(document), uses: 0, compiled: undefined };
      cache.set(query, cached);
    }
    cached.uses++;
    if (cached.uses === COMPILE_ON_USE) {
      cached.compiled = compile(schema, cached, query);
      cache.weighAgain(query);
    }
    return cached;
  };
}

function weigh({ document, selections, compiled }: CachedDocument): number {
  const bytes = bytesOfDocument(document);
  return compiled === undefined
    ? bytes
    : bytes + BYTES_PER_COMPILED + selections * BYTES_PER_COMPILED_SELECTION;
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

/**
 * Returns undefined for a large operation, for a document with several operations, and for whatever
 * the compiler refuses or gets wrong.
 */
function compile(
  schema: GraphQLSchema,
  { document, selections }: CachedDocument,
  query: string,
): CompiledQuery | undefined {
  const [operation, ...others] = document.definitions.filter(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION,
  );
  if (operation === undefined || others.length > 0) return undefined;
  if (selections > MAX_COMPILED_SELECTIONS) return undefined;
  // graphql-jit ignores the default value of a variable whose type is non-null.
  if (
    operation.variableDefinitions?.some(
      ({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE && defaultValue !== undefined,
    )
  )
    return undefined;
  // graphql-jit writes names into object literals, where `__proto__` sets the prototype.
  if (query.includes('__proto__')) return undefined;
  const compiled = compileQuery(schema, document);
  return isCompiledQuery(compiled) ? compiled : undefined;
}
