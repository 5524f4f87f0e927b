// Runs an operation for a caller, whichever endpoint it came to: document, budget, execution.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { createPlaces } from '@partner-loyalty/runtime/eventloop/places.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { createFieldNames } from '@partner-loyalty/runtime/transport/fieldnames.ts';
import type { Audit } from './audit.ts';
import { type BudgetLimiter, type Cost, costOf, spend } from './budget/budget.ts';
import { datesOfUse } from './document/deprecateduse.ts';
import { type ClientDocument, type Operation, selectOperation } from './document/document.ts';
import type { Documents } from './document/documents.ts';
import type { ExecutableOperation } from './document/executable.ts';
import { MAX_ITEMS } from './document/lists.ts';
import type { GraphqlBody } from './edge/body.ts';
import { buildResponse, type GraphqlResponse } from './edge/response.ts';
import type { ExecutionResult } from './execute/executor.ts';
import { Accesses } from './execute/members.ts';
import type { ServedGraphs } from './graph/served.ts';
import type { Principal } from './identity/authenticate.ts';
import { EVERY_SCOPE, SANDBOX_SCOPE, type ScopeBits, scopeNames } from './schema/scopes.ts';
import type { RequestState } from './state.ts';
import type { UsageCounter } from './usage/usage.ts';

export type OperateContext = {
  limiter: BudgetLimiter;
  graphs: Pick<ServedGraphs, 'current' | 'use' | 'done'>;
  documents: Documents;
  usage: Pick<UsageCounter, 'count'>;
  /** Undefined if there is no audit log. */
  audit?: Pick<Audit, 'records' | 'record'> | undefined;
  log: Pick<Log, 'error'>;
  isSandbox?: boolean;
} & ReturnType<typeof createShared>;

/** Each keeps megabytes of data until its response is text. */
const MAX_INTROSPECTIONS = 8;

/** What all endpoints of a gateway share, so that its limits hold for them together. */
export function createShared() {
  return {
    placeToIntrospect: createPlaces({
      places: MAX_INTROSPECTIONS,
      ofOwner: MAX_INTROSPECTIONS / 4,
    }),
    fieldNames: createFieldNames(),
  };
}

/**
 * Resolves with the GraphQL response and sets the request's status and codes; rejects with the
 * reason if the operation is refused.
 */
export async function operate(
  context: OperateContext,
  request: Pick<HttpRequest, 'requestId' | 'address' | 'turn' | 'reserve' | 'signal'>,
  state: RequestState,
  { query, operationName, variables, isRead }: GraphqlBody,
): Promise<GraphqlResponse['body']> {
  const { limiter, graphs, documents, log, fieldNames } = context;
  const { requestId } = request;
  const { trace } = state;
  const document = documents.read(query);
  const operation = selectOperation(document, operationName);
  state.asked = { document, operation };
  const principal = requireAllowed(state.principal, document, operation);
  if (isRead && operation?.node.operation === 'mutation')
    fail('METHOD_NOT_ALLOWED', 'a mutation needs POST');
  if (state.sandboxNow !== undefined && operation?.node.operation === 'mutation')
    fail('BAD_REQUEST', 'x-sandbox-now is for queries alone');

  trace?.phase('budget');
  const { defaultPages } = graphs.current().surfaces[principal.surface];
  const { cost, tooLong, bytes } = costOf(operation, variables, defaultPages);
  const isRepeatable = canRepeat(context, operation);
  const { executable, result } = await spend(
    limiter,
    { client: request, state, principal, cost, isRepeatable },
    () =>
      run(context, document, operation, principal, variables, { request, state, tooLong, bytes }),
  );
  state.executable = executable;
  if (executable.deprecated !== undefined)
    state.deprecation = datesOfUse(executable.deprecated, variables);

  const response = buildResponse(result, executable.responseKeys, requestId, (path, count) =>
    log.error(
      { requestId, field: fieldNames(query, path), count },
      'a subgraph returned a value that its type forbids',
    ),
  );
  state.status = response.status;
  state.codes = response.codes;
  return response.body;
}

/** Whether nothing is lost if the result of an operation is thrown away. */
function canRepeat({ audit }: OperateContext, operation: Operation | undefined): boolean {
  // The audit log would record a read whose result is thrown away.
  return operation?.node.operation === 'query' && !operation.introspects && audit === undefined;
}

/** Runs it on the graph that serves now, even if another one takes its place meanwhile. */
async function run(
  context: OperateContext,
  document: ClientDocument,
  operation: Operation | undefined,
  principal: Principal,
  variables: Record<string, unknown>,
  { request, state, tooLong, bytes }: Running,
): Promise<{ executable: ExecutableOperation; result: ExecutionResult }> {
  const { graphs, documents, usage, audit, isSandbox = false, placeToIntrospect } = context;
  const { surface: name, caller, scopes } = principal;
  const { requestId } = request;
  const { trace } = state;
  const free = request.reserve(bytes);
  if (free !== undefined) await free;
  const first = request.turn();
  if (first !== undefined) await first;
  const accesses = audit?.records(principal) ? new Accesses(state.cost) : undefined;
  const graph = graphs.use();
  try {
    trace?.phase('prepare');
    const surface = graph.surfaces[name];
    if (operation !== undefined && scopes !== EVERY_SCOPE)
      requireScopes(surface.scopesFor(operation) & ~(scopes | (isSandbox ? SANDBOX_SCOPE : 0)));
    const executable = surface.prepare(document, operation);
    documents.keep(document);
    if (tooLong !== undefined)
      fail('BAD_USER_INPUT', `${tooLong} has more than ${MAX_ITEMS} items`, {
        argument: tooLong,
      });
    trace?.phase('execute');
    const { sandboxNow } = state;
    const turn = (isLarge?: boolean) => request.turn(isLarge);
    const { owner } = principal;
    const placed = async () => {
      state.releaseSlot = await placeToIntrospect({ owner, signal: request.signal });
    };
    const asked = { variables, caller, requestId, sandboxNow, trace, accesses, turn, placed };
    const executing = surface.execute(executable, asked);
    usage.count(name, surface.schema, executable, caller, variables);
    const result = executing instanceof Promise ? await executing : executing;
    const again = turn();
    if (again !== undefined) await again;
    return { executable, result };
  } finally {
    // Even if the response is refused: a mutation may have changed members.
    if (accesses !== undefined) audit?.record(requestId, principal, accesses);
    graphs.done(graph);
  }
}

/** What an operation runs with. `tooLong` names an argument whose list is. */
type Running = Pick<Cost, 'tooLong' | 'bytes'> & {
  request: Pick<HttpRequest, 'requestId' | 'turn' | 'reserve' | 'signal'>;
  state: RequestState;
};

/** The principal, if its document does not keep it from running the operation. */
function requireAllowed(
  principal: Principal | undefined,
  { operations }: ClientDocument,
  operation: Operation | undefined,
): Principal {
  const introspects = operation?.introspects ?? operations.some((each) => each.introspects);
  if (introspects && principal?.surface !== 'partner') fail('INTROSPECTION_DISABLED');
  if (principal === undefined) return fail('UNAUTHENTICATED');
  if (operation === undefined && operations.length > 0)
    fail('BAD_REQUEST', '"operationName" must name one operation of the document');
  if (operation?.excess !== undefined) fail('OPERATION_TOO_COMPLEX', operation.excess);
  if (principal.isReadOnly && operation?.node.operation === 'mutation')
    fail('FORBIDDEN', 'an ID token is for queries alone: send the access token');
  return principal;
}

function requireScopes(missing: ScopeBits): void {
  if (missing === 0) return;
  if ((missing & SANDBOX_SCOPE) !== 0) fail('FORBIDDEN', 'this field works in a sandbox alone');
  const names = scopeNames(missing).join(', ');
  fail('FORBIDDEN', names === '' ? undefined : `this key lacks the scope: ${names}`);
}
