// Parses and validates each document of a subgraph once, and compiles those that recur.
import { type DocumentNode, type GraphQLSchema, Kind, parse, validate } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import { expandedSelections } from './selections.ts';

/** `compiled` is undefined if graphql-js has to execute the document. */
export type CachedDocument = {
  document: DocumentNode;
  selections: number;
  uses: number;
  compiled: CompiledQuery | undefined;
};

// Measured: the memory of a parsed document by its text, and of a compiled one by its selections.
const BYTES_PER_CHARACTER = 64;
const BYTES_PER_SELECTION = 2_048;
const CACHE = {
  max: 1_000,
  maxSize: 64 * 1024 * 1024,
  sizeCalculation: ({ selections }: CachedDocument, query: string) =>
    1_024 +
    query.length * BYTES_PER_CHARACTER +
    (isCompilable(selections) ? selections * BYTES_PER_SELECTION : 0),
};
/**
 * Compiling takes several times as long as executing, so it does not pay for a text that comes only
 * once, as one with literals usually does.
 */
const COMPILE_ON_USE = 2;
/** Compiling 20 selections takes about 1 ms. */
const MAX_COMPILED_SELECTIONS = 250;

/**
 * Returns a function that finds or creates the cached document of a text. It throws a GraphQLError
 * if the text is invalid.
 */
export function createDocuments(schema: GraphQLSchema): (query: string) => CachedDocument {
  const cache = new LRUCache<string, CachedDocument>(CACHE);
  return (query) => {
    let cached = cache.get(query);
    if (cached === undefined) {
      const document = parseValid(schema, query);
      cached = { document, selections: expandedSelections(document), uses: 0, compiled: undefined };
      cache.set(query, cached);
    }
    cached.uses++;
    if (cached.uses === COMPILE_ON_USE) cached.compiled = compile(schema, cached, query);
    return cached;
  };
}

function parseValid(schema: GraphQLSchema, query: string): DocumentNode {
  const document = parse(query);
  const [error] = validate(schema, document);
  if (error !== undefined) throw error;
  return document;
}

function isCompilable(selections: number): boolean {
  return selections <= MAX_COMPILED_SELECTIONS;
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
  if (operation === undefined || others.length > 0 || !isCompilable(selections)) return undefined;
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
