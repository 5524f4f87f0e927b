// Executes operations on a subgraph, with masked errors.
import { type ExecutionResult, execute, GraphQLError } from 'graphql';
import type { Caches } from '../cache/caches.ts';
import { ApiError, ERRORS } from '../errors.ts';
import type { Log } from '../observe/log.ts';
import { isOutage, outageOf } from '../store/outage.ts';
import { type Execute, SubgraphUnavailable } from '../transport/deadline.ts';
import type { SubgraphError, SubgraphRequest, SubgraphResponse } from '../transport/types.ts';
import { createDocuments } from './documents.ts';
import { resolveEntitiesSynchronously } from './entities.ts';
import type { Subgraph, SubgraphContext } from './types.ts';

/** The result of both graphql-js and graphql-jit. */
type Result = Pick<ExecutionResult<Record<string, unknown>>, 'data' | 'errors'>;

/**
 * Returns a function that executes operations, synchronously if their resolvers are synchronous. It
 * never throws or rejects: errors are in the response, each with a code from the table.
 */
export function createExecutor(
  { name, schema }: Pick<Subgraph, 'name' | 'schema'>,
  log: Log,
  caches: Caches,
): Execute {
  resolveEntitiesSynchronously(schema);
  const read = createDocuments(schema, caches);

  function run(request: SubgraphRequest): Result | Promise<Result> {
    const { query, variables, operationName, caller, requestId, sandboxNow } = request;
    const contextValue: SubgraphContext = { caller, requestId, sandboxNow };
    const { document, compiled } = read(query);
    return compiled === undefined
      ? execute({ schema, document, contextValue, variableValues: variables, operationName })
      : compiled.query(undefined, contextValue, variables);
  }

  function toResponse({ data, errors }: Result, requestId: string): SubgraphResponse {
    return errors === undefined
      ? { data }
      : { data, errors: errors.map((error) => mask(error, requestId)) };
  }

  function mask(error: unknown, requestId: string): SubgraphError {
    const cause = error instanceof GraphQLError ? (error.originalError ?? error) : error;
    const path = error instanceof GraphQLError && error.path ? { path: error.path } : {};
    if (cause instanceof ApiError && ERRORS[cause.code].status < 500)
      return {
        message: cause.message,
        ...path,
        extensions: { code: cause.code, ...cause.details },
      };
    const code = codeOf(cause);
    const fields = { requestId, subgraph: name, code, err: cause };
    if (cause instanceof SubgraphUnavailable) log.outage(fields, 'another subgraph is unavailable');
    else if (code === 'SERVICE_UNAVAILABLE')
      log.outage(fields, `a store is ${outageOf(cause) ?? 'unavailable'}`);
    else log.error(fields, 'an operation failed');
    return { message: ERRORS[code].message, ...path, extensions: { code } };
  }

  return (request) => {
    const { requestId } = request;
    try {
      const result = run(request);
      if (!('then' in result)) return toResponse(result, requestId);
      return result.then(
        (late) => toResponse(late, requestId),
        (error) => ({ errors: [mask(error, requestId)] }),
      );
    } catch (error) {
      return { errors: [mask(error, requestId)] };
    }
  };
}

function codeOf(cause: unknown) {
  if (cause instanceof ApiError) return cause.code;
  return isOutage(cause) || cause instanceof SubgraphUnavailable
    ? 'SERVICE_UNAVAILABLE'
    : 'INTERNAL_SERVER_ERROR';
}
