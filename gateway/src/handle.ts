// The life of a request at /graphql, in the order of checks of docs/callers/requests.md.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Tracing } from '@partner-loyalty/runtime/observe/tracing/trace.ts';
import {
  bytesParsed,
  type GraphqlBody,
  parseGraphqlBody,
  parseGraphqlSearch,
  readJsonBody,
} from './edge/body.ts';
import { type EndpointContext, GRAPHQL_FORM, respond } from './edge/endpoint.ts';
import { type IdentifyContext, identify, identifyAgain, requireUsable } from './edge/identify.ts';
import { type OperateContext, operate } from './operate.ts';
import { applyControls } from './sandbox/controls.ts';
import { beginRequest, type RequestState } from './state.ts';

type HandleContext = IdentifyContext &
  EndpointContext &
  OperateContext & {
    tracing?: Tracing | undefined;
  };

/** Handles a request to `/graphql` or to a path that does not exist. It never rejects. */
export function handle(context: HandleContext, request: HttpRequest): Promise<HttpResponse> {
  // A preflight is rare, and this is the hot path.
  return request.method === 'OPTIONS' && isEndpoint(request)
    ? context.cors.answer(request, () => begin(context, request))
    : begin(context, request);
}

function begin(context: HandleContext, request: HttpRequest): Promise<HttpResponse> {
  const state = beginRequest(context.tracing?.begin(spanName(request), request.headers));
  return respond(context, GRAPHQL_FORM, request, state, () => execute(context, request, state));
}

async function execute(
  context: HandleContext,
  request: HttpRequest,
  state: RequestState,
): Promise<object> {
  const { isSandbox, limiter } = context;
  const { trace } = state;
  trace?.phase('authenticate');
  const identified = identify(context, request, state, isEndpoint(request));
  if (identified !== undefined) await identified;
  if (!isEndpoint(request)) fail('NOT_FOUND');
  const { method } = request;
  if (method !== 'POST' && method !== 'GET') fail('METHOD_NOT_ALLOWED');
  requireUsable(state.credential);
  if (isSandbox && hasControls(request)) await applyControls(request, state, limiter);

  trace?.phase('read');
  const body = method === 'POST' ? await readJsonBody(request) : request.search;
  const again = identifyAgain(context, request, state);
  if (again !== undefined) await again;
  const turn = request.admit(state.principal?.owner, bytesParsed(body.length));
  if (turn !== undefined) await turn;
  // Awaited: an async function that returns a promise takes two more microtasks.
  return await operate(context, request, state, parse(body));
}

function parse(sent: Buffer | string): GraphqlBody {
  return typeof sent === 'string' ? parseGraphqlSearch(sent) : parseGraphqlBody(sent);
}

function hasControls({ headers }: HttpRequest): boolean {
  return headers['x-sandbox-now'] !== undefined || headers['x-sandbox-fault'] !== undefined;
}

export function isEndpoint({ path }: HttpRequest): boolean {
  return path === '/graphql' || path === '/graphql/';
}

/** Callers choose methods and paths, so that no name has them. */
function spanName(request: HttpRequest): string {
  const { method } = request;
  const isNamed = (method === 'POST' || method === 'GET') && isEndpoint(request);
  return isNamed ? `${method} /graphql` : 'HTTP';
}
