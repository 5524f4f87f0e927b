// The life of a request at /graphql, top to bottom, in the order of checks of docs/contract.md.
import {
  createFieldNames,
  fail,
  type HttpReply,
  type HttpRequest,
  type Tracing,
} from '@partner-loyalty/runtime';
import type { Audit } from './audit/audit.ts';
import { beginCall, type Call, type Credential } from './call.ts';
import { readGraphqlBody } from './http/body.ts';
import { buildResponse } from './http/response.ts';
import type { Authenticate, Principal } from './identity/authenticate.ts';
import { type ClientDocument, type Operation, selectOperation } from './operation/document.ts';
import type { Documents } from './operation/documents.ts';
import type { ExecutableOperation } from './operation/executable.ts';
import { costOfLists, MAX_ITEMS } from './operation/lists.ts';
import { createTurns } from './operation/turns.ts';
import { EVERY_SCOPE, type ScopeBits, scopeNames } from './planning/scopes.ts';
import { createReplies, type ReplyParts } from './reply.ts';
import type { ServedGraphs } from './supergraph/served.ts';
import type { ExecutionResult } from './surface/executor.ts';
import type { UsageCounter } from './usage/counter.ts';

export type HandlerParts = ReplyParts & {
  authenticate: Authenticate;
  graphs: Pick<ServedGraphs, 'use' | 'done' | 'current'>;
  documents: Documents;
  usage: Pick<UsageCounter, 'count'>;
  tracing?: Tracing | undefined;
  /** Undefined if there is no audit log. */
  audit?: Pick<Audit, 'begin' | 'record'> | undefined;
};

/** Each builds megabytes at once, until its response is text. */
const MAX_INTROSPECTIONS = 8;

/** Builds the handler of `/graphql` and of paths that do not exist. It never throws. */
export function createHandler(parts: HandlerParts): (request: HttpRequest) => Promise<HttpReply> {
  const { limiter, graphs, documents, usage, audit, cors, tracing, log } = parts;
  const identify = createIdentify(parts);
  const { refuse, finish } = createReplies(parts);
  const fieldNames = createFieldNames();
  const introspections = createTurns(MAX_INTROSPECTIONS);

  return async function handle(request) {
    const preflight = isEndpoint(request) ? cors.preflight(request) : undefined;
    if (preflight !== undefined) return preflight;
    const call = beginCall(tracing?.begin(spanName(request), request.headers));
    let body: object;
    try {
      body = await execute(request, call);
    } catch (error) {
      body = refuse(error, request, call);
    }
    try {
      return await finish(request, call, body);
    } finally {
      call.endTurn?.();
    }
  };

  async function execute(request: HttpRequest, call: Call): Promise<object> {
    const { trace } = call;
    trace?.phase('authenticate');
    const identified = identify(request, call);
    if (identified !== undefined) await identified;
    if (!isEndpoint(request)) fail('NOT_FOUND');
    if (request.method !== 'POST') fail('METHOD_NOT_ALLOWED');
    const caller = requireUsable(call.credential);

    trace?.phase('read');
    const { query, operationName, variables } = await readGraphqlBody(request);
    const document = documents.read(query);
    const operation = selectOperation(document, operationName);
    call.asked = { document, operation };
    const principal = requireAllowed(caller, document, operation);

    trace?.phase('budget');
    const { policy, id, budget } = principal;
    const { cost, tooLong } = costOf(operation, variables);
    call.cost = cost > budget ? 1 : cost;
    call.verdict = await limiter.consume(policy, id, call.cost, budget);
    if (!call.verdict.allowed) fail('RATE_LIMITED');
    if (cost > budget)
      fail('OPERATION_TOO_COMPLEX', `the operation costs more than the whole budget of ${budget}`);

    const { requestId } = request;
    const context = { requestId, call, tooLong };
    const { executable, result } = await run(document, operation, principal, variables, context);
    call.executable = executable;

    const response = buildResponse(result, executable.responseKeys, requestId, (path, count) =>
      log.error(
        { requestId, field: fieldNames(query, path), count },
        'a subgraph returned a value that its type forbids',
      ),
    );
    call.status = response.status;
    call.codes = response.codes;
    return response.body;
  }

  /** On the graph that serves now, even if another one takes its place meanwhile. */
  async function run(
    document: ClientDocument,
    operation: Operation | undefined,
    principal: Principal,
    variables: Record<string, unknown>,
    { requestId, call, tooLong }: Context,
  ): Promise<{ executable: ExecutableOperation; result: ExecutionResult }> {
    const { surface: name, scope, scopes } = principal;
    const { trace } = call;
    const sightings = audit?.begin(principal);
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
      usage.count(name, surface.schema, executable, scope, variables);
      trace?.phase('execute');
      if (executable.introspection !== undefined) call.endTurn = await introspections.take();
      const asked = { variables, scope, requestId, trace, sightings };
      const result = await surface.execute(executable, asked);
      return { executable, result };
    } finally {
      // Even if the response is refused: a mutation may have changed members.
      if (sightings !== undefined) audit?.record(requestId, principal, sightings);
      graphs.done(graph);
    }
  }
}

function isEndpoint({ path }: HttpRequest): boolean {
  return path === '/graphql' || path === '/graphql/';
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

/** Callers choose methods and paths, so that no name has them. */
function spanName(request: HttpRequest): string {
  return request.method === 'POST' && isEndpoint(request) ? 'POST /graphql' : 'HTTP';
}

/**
 * Checks the credential, on every path. A refused one is counted before any other work. Returns
 * undefined if there is nothing to wait for, as with a key or token that is cached.
 */
function createIdentify({ authenticate, limiter }: HandlerParts) {
  async function countRefused(request: HttpRequest, call: Call): Promise<void> {
    const verdict = await limiter.consumeRefusal(request.address);
    if (verdict.allowed) return;
    call.refusal = verdict;
    fail('RATE_LIMITED');
  }

  function identified(request: HttpRequest, call: Call, credential: Credential) {
    call.credential = credential;
    if ('principal' in credential) call.principal = credential.principal;
    return isRefused(credential) ? countRefused(request, call) : undefined;
  }

  return (request: HttpRequest, call: Call): Promise<void> | undefined => {
    try {
      const found = authenticate(request.headers, request);
      if (!(found instanceof Promise)) return identified(request, call, found);
      return found.then(
        (late) => identified(request, call, late),
        (error: unknown) => identified(request, call, { kind: 'unavailable', error }),
      );
    } catch (error) {
      return identified(request, call, { kind: 'unavailable', error });
    }
  };
}

/** The principal, if the credential names one. Throws if the credential alone decides the reply. */
function requireUsable(credential: Credential): Principal | undefined {
  if (credential.kind === 'mismatch') fail('KEY_ENVIRONMENT_MISMATCH');
  if ('principal' in credential && credential.principal?.isSuspended) fail('PARTNER_SUSPENDED');
  if (credential.kind === 'ambiguous') fail('AMBIGUOUS_CREDENTIALS');
  if (credential.kind === 'unavailable') throw credential.error;
  return credential.kind === 'principal' ? credential.principal : undefined;
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

function isRefused(credential: Credential): boolean {
  if (credential.kind === 'ambiguous') return credential.principal === undefined;
  return credential.kind === 'refused';
}
