// Executes operations on a subgraph: each text parsed, validated and compiled once, errors masked, synchronous where its resolvers are.
import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  parse,
  validate,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import { ApiError, ERRORS } from '../errors.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { isOutage } from '../store/outage.ts';
import { resolveEntitiesInStep } from './entities.ts';
import { expandedSelections } from './selections.ts';
import type {
  Subgraph,
  SubgraphContext,
  SubgraphError,
  SubgraphReply,
  SubgraphRequest,
  Transport,
} from './subgraph.ts';

export type Execute = (request: SubgraphRequest) => SubgraphReply | Promise<SubgraphReply>;

/** What graphql-js and graphql-jit both answer with. */
type Result = Pick<ExecutionResult<Record<string, unknown>>, 'data' | 'errors'>;

type Prepared = {
  document: DocumentNode;
  selections: number;
  uses: number;
  compiled?: CompiledQuery;
};

const DEADLINE_MS = 2_000;
// What a parsed document was seen to take for each character of its text, and a compiled one for each selection.
const BYTES_PER_CHARACTER = 64;
const BYTES_PER_SELECTION = 2_048;
const CACHE = {
  max: 1_000,
  maxSize: 64 * 1024 * 1024,
  sizeCalculation: ({ selections }: Prepared, text: string) =>
    1_024 +
    text.length * BYTES_PER_CHARACTER +
    (isCompilable(selections) ? selections * BYTES_PER_SELECTION : 0),
};
/** Compiling takes a multiple of executing, so texts that come once are not worth it: they hold literals, each a different one. */
const COMPILED_FROM_USE = 2;
/** Compiling takes about 1 ms for 20 selections. */
const COMPILED_UP_TO_SELECTIONS = 250;

/** Never throws nor rejects: what goes wrong is in the reply's errors, with a code of the table. */
export function createExecutor(
  { name, schema }: Pick<Subgraph, 'name' | 'schema'>,
  log: Log,
): Execute {
  const cache = new LRUCache<string, Prepared>(CACHE);
  resolveEntitiesInStep(schema);

  function run(request: SubgraphRequest): Result | Promise<Result> {
    const { query, variables, operationName, scope, requestId } = request;
    const contextValue: SubgraphContext = { scope, requestId };
    let prepared = cache.get(query);
    if (prepared === undefined) {
      const document = prepare(schema, query);
      prepared = { document, selections: expandedSelections(document), uses: 0 };
      cache.set(query, prepared);
    }
    prepared.uses++;
    if (prepared.uses === COMPILED_FROM_USE) prepared.compiled = compile(schema, prepared, query);
    if (prepared.compiled !== undefined)
      return prepared.compiled.query(undefined, contextValue, variables);
    return execute({
      schema,
      document: prepared.document,
      contextValue,
      variableValues: variables,
      operationName,
    });
  }

  function toReply({ data, errors }: Result, request: SubgraphRequest): SubgraphReply {
    return errors === undefined
      ? { data }
      : { data, errors: errors.map((error) => mask(error, request)) };
  }

  function mask(error: unknown, { requestId }: SubgraphRequest): SubgraphError {
    const cause = error instanceof GraphQLError ? (error.originalError ?? error) : error;
    const path = error instanceof GraphQLError && error.path ? { path: error.path } : {};
    if (cause instanceof ApiError && ERRORS[cause.code].status < 500)
      return { message: cause.message, ...path, extensions: { code: cause.code } };
    const code =
      cause instanceof ApiError
        ? cause.code
        : isOutage(cause)
          ? 'SERVICE_UNAVAILABLE'
          : 'INTERNAL_SERVER_ERROR';
    if (code === 'SERVICE_UNAVAILABLE')
      log.warn({ requestId, subgraph: name, code, err: cause }, 'a store is away');
    else log.error({ requestId, subgraph: name, code, err: cause }, 'an operation failed');
    return { message: ERRORS[code].message, ...path, extensions: { code } };
  }

  return (request) => {
    try {
      const result = run(request);
      if (!('then' in result)) return toReply(result, request);
      return result.then(
        (late) => toReply(late, request),
        (error) => ({ errors: [mask(error, request)] }),
      );
    } catch (error) {
      return { errors: [mask(error, request)] };
    }
  };
}

/** Reaches a subgraph of this process. An operation slower than 2 seconds is SERVICE_UNAVAILABLE. `close` closes the subgraph. */
export function createInProcessTransport(
  subgraph: Subgraph,
  log: Log,
  metrics?: Pick<Metrics, 'subgraphCall'>,
): Transport {
  const execute = createExecutor(subgraph, log);

  function counted(reply: SubgraphReply, began: number, late = false): SubgraphReply {
    const outcome = late ? 'timeout' : reply.errors === undefined ? 'ok' : 'error';
    metrics?.subgraphCall(subgraph.name, outcome, performance.now() - began);
    return reply;
  }

  return {
    execute: (request) => {
      const began = performance.now();
      const reply = execute(request);
      if (!('then' in reply)) return counted(reply, began);
      let late = true;
      const inTime = reply.then((done) => {
        late = false;
        return done;
      });
      return withDeadline(inTime).then((done) => counted(done, began, late));
    },
    ready: () => subgraph.ready(),
    close: () => subgraph.close(),
  };
}

/** The reply, or SERVICE_UNAVAILABLE where it takes longer than `ms`; what comes later is dropped. `reply` does not reject. */
export function withDeadline(
  reply: Promise<SubgraphReply>,
  ms: number = DEADLINE_MS,
): Promise<SubgraphReply> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(unavailable()), ms);
    reply.then((inTime) => {
      clearTimeout(timer);
      resolve(inTime);
    });
  });
}

/** The reply of a subgraph that could not be asked. */
export function unavailable(): SubgraphReply {
  return {
    data: null,
    errors: [
      { message: ERRORS.SERVICE_UNAVAILABLE.message, extensions: { code: 'SERVICE_UNAVAILABLE' } },
    ],
  };
}

function isCompilable(selections: number): boolean {
  return selections <= COMPILED_UP_TO_SELECTIONS;
}

function prepare(schema: GraphQLSchema, query: string): DocumentNode {
  const document = parse(query);
  const [fault] = validate(schema, document);
  if (fault !== undefined) throw fault;
  return document;
}

/** Undefined where graphql-js goes on executing: for large operations, several of them, and what the compiler refuses or gets wrong. */
function compile(
  schema: GraphQLSchema,
  { document, selections }: Prepared,
  query: string,
): CompiledQuery | undefined {
  const [operation, ...others] = document.definitions.filter(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION,
  );
  if (operation === undefined || others.length > 0 || !isCompilable(selections)) return undefined;
  // graphql-jit forgets the default of a variable whose type is not nullable.
  if (
    operation.variableDefinitions?.some(
      ({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE && defaultValue !== undefined,
    )
  )
    return undefined;
  // It writes names into the code of object literals, where this one means the prototype.
  if (query.includes('__proto__')) return undefined;
  const compiled = compileQuery(schema, document);
  return isCompiledQuery(compiled) ? compiled : undefined;
}
