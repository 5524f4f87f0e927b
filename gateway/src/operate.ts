// Runs an operation for a caller, whichever endpoint it came to: document, budget, execution.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { pollDone } from '@partner-loyalty/runtime/eventloop/afterpoll.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { createFieldNames } from '@partner-loyalty/runtime/transport/fieldnames.ts';
import type { Audit } from './audit/audit.ts';
import type { Call } from './call.ts';
import { datesOfUse } from './document/deprecateduse.ts';
import { type ClientDocument, type Operation, selectOperation } from './document/document.ts';
import type { Documents } from './document/documents.ts';
import type { ExecutableOperation } from './document/executable.ts';
import { costOfLists, MAX_ITEMS } from './document/lists.ts';
import { createSemaphore } from './document/semaphore.ts';
import type { ExecutionResult } from './execute/executor.ts';
import type { ServedGraphs } from './graph/served.ts';
import type { GraphqlBody } from './http/body.ts';
import { buildResponse, type GraphqlResponse } from './http/response.ts';
import type { Principal } from './identity/authenticate.ts';
import type { Limiter } from './limits/limiter.ts';
import { EVERY_SCOPE, type ScopeBits, scopeNames } from './schema/scopes.ts';
import type { UsageCounter } from './usage/counter.ts';

export type OperateParts = {
  limiter: Pick<Limiter, 'consume' | 'hasPlenty'>;
  graphs: Pick<ServedGraphs, 'current' | 'use' | 'done'>;
  documents: Documents;
  usage: Pick<UsageCounter, 'count'>;
  /** Undefined if there is no audit log. */
  audit?: Pick<Audit, 'begin' | 'record'> | undefined;
  log: Pick<Log, 'error'>;
};

/**
 * Resolves with the GraphQL response and sets the call's status and codes; rejects with the reason
 * if the operation is refused. `caller` is undefined without a credential.
 */
export type Operate = (
  request: Pick<HttpRequest, 'requestId'>,
  call: Call,
  caller: Principal | undefined,
  body: GraphqlBody,
) => Promise<GraphqlResponse['body']>;

/** Each keeps megabytes of data until its response is text. */
const MAX_INTROSPECTIONS = 8;

export function createOperate(parts: OperateParts): Operate {
  const { limiter, graphs, documents, usage, audit, log } = parts;
  const fieldNames = createFieldNames();
  const introspections = createSemaphore(MAX_INTROSPECTIONS);

  return async function operate({ requestId }, call, caller, { query, operationName, variables }) {
    const { trace } = call;
    const document = documents.read(query);
    const operation = selectOperation(document, operationName);
    call.asked = { document, operation };
    const principal = requireAllowed(caller, document, operation);

    trace?.phase('budget');
    const { policy, id, budget } = principal;
    const { cost, tooLong } = costOf(operation, variables);
    call.cost = cost > budget ? 1 : cost;
    const start = () =>
      run(document, operation, principal, variables, { requestId, call, tooLong });
    const ahead = mayRunAhead(document, operation, principal, cost)
      ? pollDone().then(start)
      : undefined;
    // Handled below, unless the budget is spent: then RATE_LIMITED is the reason that counts.
    ahead?.catch(() => {});
    call.verdict = await limiter.consume(policy, id, call.cost, budget);
    if (!call.verdict.allowed) fail('RATE_LIMITED');
    if (cost > budget)
      fail('OPERATION_TOO_COMPLEX', `the operation costs more than the whole budget of ${budget}`);

    const { executable, result } = await (ahead ?? start());
    call.executable = executable;
    if (executable.deprecated !== undefined)
      call.deprecation = datesOfUse(executable.deprecated, variables);

    const response = buildResponse(result, executable.responseKeys, requestId, (path, count) =>
      log.error(
        { requestId, field: fieldNames(query, path), count },
        'a subgraph returned a value that its type forbids',
      ),
    );
    call.status = response.status;
    call.codes = response.codes;
    return response.body;
  };

  /**
   * Whether an operation may run before its budget is known to suffice: a read whose document was
   * validated before, by a key that has plenty left. In the worst case, other processes have just
   * used up the rest, and the result is thrown away.
   */
  function mayRunAhead(
    document: ClientDocument,
    operation: Operation | undefined,
    { policy, id, budget, surface }: Principal,
    cost: number,
  ): boolean {
    return (
      operation?.node.operation === 'query' &&
      !operation.introspects &&
      // The audit log would record a read whose result is thrown away.
      audit === undefined &&
      limiter.hasPlenty(policy, id, cost, budget) &&
      graphs.current().surfaces[surface].knows(document)
    );
  }

  /** On the graph that serves now, even if another one takes its place meanwhile. */
  async function run(
    document: ClientDocument,
    operation: Operation | undefined,
    principal: Principal,
    variables: Record<string, unknown>,
    { requestId, call, tooLong }: Context,
  ): Promise<{ executable: ExecutableOperation; result: ExecutionResult }> {
    const { surface: name, caller, scopes } = principal;
    const { trace } = call;
    const accesses = audit?.begin(principal);
    const graph = graphs.use();
    try {
      trace?.phase('prepare');
      const surface = graph.surfaces[name];
      if (operation !== undefined && scopes !== EVERY_SCOPE)
        requireScopes(surface.scopesFor(document, operation) & ~scopes);
      const executable = surface.prepare(document, operation);
      documents.keep(document);
      if (tooLong !== undefined)
        fail('BAD_USER_INPUT', `${tooLong} has more than ${MAX_ITEMS} items`, {
          argument: tooLong,
        });
      usage.count(name, surface.schema, executable, caller, variables);
      trace?.phase('execute');
      if (executable.introspection !== undefined) call.releaseSlot = await introspections.acquire();
      const asked = { variables, caller, requestId, trace, accesses };
      const executing = surface.execute(executable, asked);
      const result = executing instanceof Promise ? await executing : executing;
      return { executable, result };
    } finally {
      // Even if the response is refused: a mutation may have changed members.
      if (accesses !== undefined) audit?.record(requestId, principal, accesses);
      graphs.done(graph);
    }
  }
}

/** What an operation runs with. `tooLong` names an argument whose list is. */
type Context = { requestId: string; call: Call; tooLong: string | undefined };

/** What a request costs; 1 if a list is too long. */
function costOf(
  operation: Operation | undefined,
  variables: Record<string, unknown>,
): { cost: number; tooLong: string | undefined } {
  if (operation?.lists === undefined) return { cost: operation?.cost ?? 1, tooLong: undefined };
  const lists = costOfLists(operation.lists, variables);
  if (lists.tooLong !== undefined) return { cost: 1, tooLong: lists.tooLong };
  return { cost: operation.cost + lists.added, tooLong: undefined };
}

/** The caller, who may run the operation as far as its document alone decides. Throws otherwise. */
function requireAllowed(
  caller: Principal | undefined,
  { operations }: ClientDocument,
  operation: Operation | undefined,
): Principal {
  const introspects = operation?.introspects ?? operations.some((each) => each.introspects);
  if (introspects && caller?.surface !== 'partner') fail('INTROSPECTION_DISABLED');
  if (caller === undefined) return fail('UNAUTHENTICATED');
  if (operation === undefined && operations.length > 0)
    fail('BAD_REQUEST', '"operationName" must name one operation of the document');
  if (operation?.excess !== undefined) fail('OPERATION_TOO_COMPLEX', operation.excess);
  return caller;
}

function requireScopes(missing: ScopeBits): void {
  if (missing === 0) return;
  const names = scopeNames(missing).join(', ');
  fail('FORBIDDEN', names === '' ? undefined : `this key lacks the scope: ${names}`);
}
