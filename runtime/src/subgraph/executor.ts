// Executes operations on a subgraph, with masked errors.
import { GraphQLError, responsePathAsArray } from 'graphql';
import type { Caches } from '../cache/caches.ts';
import { ApiError, ERRORS, fail } from '../errors.ts';
import type { Log } from '../observe/log.ts';
import { isOutage, outageOf } from '../store/outage.ts';
import { type Execute, SubgraphUnavailable } from '../transport/deadline.ts';
import type { SubgraphError, SubgraphRequest, SubgraphResponse } from '../transport/types.ts';
import { createDocuments } from './documents.ts';
import { resolveEntitiesSynchronously } from './entities.ts';
import { Failure, type Outcome } from './execute.ts';
import type { Subgraph, SubgraphContext } from './types.ts';

/**
 * Returns a function that executes operations, synchronously if their resolvers are synchronous. It
 * never throws or rejects: errors are in the response, each with a code from the table.
 */
export function createExecutor(
  { name, schema, forward }: Pick<Subgraph, 'name' | 'schema' | 'forward'>,
  log: Log,
  caches: Caches,
): Execute {
  resolveEntitiesSynchronously(schema);
  const read = createDocuments(schema, caches);

  function run(request: SubgraphRequest): Outcome | Promise<Outcome> {
    const { query, variables = {}, operationName, caller, requestId, sandboxNow } = request;
    const context: SubgraphContext = { caller, requestId, sandboxNow };
    return read(query, operationName)(context, variables);
  }

  async function handOver({ forwarded, caller, requestId }: SubgraphRequest) {
    try {
      if (forwarded === undefined || forward === undefined || caller.kind !== 'service')
        return fail('FORBIDDEN');
      return { data: await forward(forwarded) };
    } catch (error) {
      return { errors: [mask(new Failure(error), requestId)] };
    }
  }

  function toResponse({ data, failures }: Outcome, requestId: string): SubgraphResponse {
    return failures.length === 0
      ? { data }
      : { data, errors: failures.map((failure) => mask(failure, requestId)) };
  }

  function mask({ cause: error, path: place }: Failure, requestId: string): SubgraphError {
    const cause = error instanceof GraphQLError ? (error.originalError ?? error) : error;
    const path = place && { path: responsePathAsArray(place) };
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
    if (request.forwarded !== undefined) return handOver(request);
    try {
      const outcome = run(request);
      return 'then' in outcome
        ? outcome.then((late) => toResponse(late, requestId))
        : toResponse(outcome, requestId);
    } catch (error) {
      return { errors: [mask(new Failure(error), requestId)] };
    }
  };
}

function codeOf(cause: unknown) {
  if (cause instanceof ApiError) return cause.code;
  return isOutage(cause) || cause instanceof SubgraphUnavailable
    ? 'SERVICE_UNAVAILABLE'
    : 'INTERNAL_SERVER_ERROR';
}
