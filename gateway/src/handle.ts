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
import { createEndpoint, type EndpointParts, GRAPHQL_FORM } from './edge/endpoint.ts';
import { createIdentify, type IdentifyParts, requireUsable } from './edge/identify.ts';
import type { Operate } from './operate.ts';
import { beginRequest, type RequestState } from './state.ts';

type HandlerParts = IdentifyParts &
  EndpointParts & {
    operate: Operate;
    tracing?: Tracing | undefined;
    /** Loads the controls of a sandbox; undefined in production. */
    loadControls?: LoadControls | undefined;
  };

type LoadControls = () => Promise<typeof import('./sandbox/controls.ts')>;

/** Builds the handler of `/graphql` and of paths that do not exist. It never throws. */
export function createHandler(
  parts: HandlerParts,
): (request: HttpRequest) => Promise<HttpResponse> {
  const { cors, tracing, operate, budget, loadControls } = parts;
  const identify = createIdentify(parts);
  const respond = createEndpoint(parts, GRAPHQL_FORM);

  const begin = (request: HttpRequest) =>
    respond(request, beginRequest(tracing?.begin(spanName(request), request.headers)), execute);

  return (request) =>
    // A preflight is rare, and this is the hot path.
    request.method === 'OPTIONS' && isEndpoint(request)
      ? cors.answer(request, () => begin(request))
      : begin(request);

  async function execute(request: HttpRequest, state: RequestState): Promise<object> {
    const { trace } = state;
    trace?.phase('authenticate');
    const identified = identify(request, state, isEndpoint(request));
    if (identified !== undefined) await identified;
    if (!isEndpoint(request)) fail('NOT_FOUND');
    const { method } = request;
    if (method !== 'POST' && method !== 'GET') fail('METHOD_NOT_ALLOWED');
    requireUsable(state.credential);
    if (loadControls !== undefined && hasControls(request))
      await (await loadControls()).applyControls(request, state, budget);

    trace?.phase('read');
    const body = method === 'POST' ? await readJsonBody(request) : request.search;
    const turn = request.admit(state.principal?.owner, bytesParsed(body.length));
    if (turn !== undefined) await turn;
    // Awaited: an async function that returns a promise takes two more microtasks.
    return await operate(request, state, parse(body));
  }
}

function parse(sent: Buffer | string): GraphqlBody {
  return typeof sent === 'string' ? parseGraphqlSearch(sent) : parseGraphqlBody(sent);
}

function hasControls({ headers }: HttpRequest): boolean {
  return headers['x-sandbox-now'] !== undefined || headers['x-sandbox-fault'] !== undefined;
}

function isEndpoint({ path }: HttpRequest): boolean {
  return path === '/graphql' || path === '/graphql/';
}

/** Callers choose methods and paths, so that no name has them. */
function spanName(request: HttpRequest): string {
  const { method } = request;
  const isNamed = (method === 'POST' || method === 'GET') && isEndpoint(request);
  return isNamed ? `${method} /graphql` : 'HTTP';
}
