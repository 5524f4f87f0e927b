// The life of a request at /mcp, top to bottom, in the order of checks of docs/callers/requests.md.
import { charge } from '@partner-loyalty/gateway/budget/budget.ts';
import { bytesParsed, readJsonBody, textOf } from '@partner-loyalty/gateway/edge/body.ts';
import type { CorsRules } from '@partner-loyalty/gateway/edge/cors.ts';
import { type EndpointContext, respond } from '@partner-loyalty/gateway/edge/endpoint.ts';
import {
  type IdentifyContext,
  identify,
  identifyAgain,
  requireUsable,
} from '@partner-loyalty/gateway/edge/identify.ts';
import type { OperateContext } from '@partner-loyalty/gateway/operate.ts';
import { beginRequest, type RequestState } from '@partner-loyalty/gateway/state.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Tracing } from '@partner-loyalty/runtime/observe/tracing/trace.ts';
import { createDescribe } from './describe.ts';
import { RPC_FORM, withCode } from './errors.ts';
import { parseMessage } from './message.ts';
import type { RespondToMessage, RpcResponse } from './protocol.ts';

export const MCP_PATH = '/mcp';

/** Pages of assistants hold a key of their own. */
export const MCP_CORS: CorsRules = {
  methods: 'POST',
  allowed: [
    'x-api-key',
    'content-type',
    'x-request-id',
    'traceparent',
    'mcp-protocol-version',
    'mcp-method',
    'mcp-name',
  ],
};

export type McpContext = IdentifyContext &
  EndpointContext &
  OperateContext & {
    tracing?: Tracing | undefined;
    isSandbox: boolean;
  };

/**
 * Builds the handler of `/mcp`: the Model Context Protocol, streamable HTTP, without sessions. Its
 * tools are reads of the partner surface, which run as the operations of `/graphql` do. It never
 * throws.
 */
export function createMcp(context: McpContext): (request: HttpRequest) => Promise<HttpResponse> {
  const { cors, tracing, limiter } = context;
  const describe = createDescribe(context.graphs);
  let respondToMessage: Promise<RespondToMessage> | undefined;

  return (request) =>
    cors.answer(request, () => {
      const isPost = request.method === 'POST';
      const trace = tracing?.begin(isPost ? `POST ${MCP_PATH}` : 'HTTP', request.headers);
      const state = beginRequest(trace);
      return respond(context, RPC_FORM, request, state, () => execute(request, state));
    });

  async function execute(request: HttpRequest, state: RequestState): Promise<object | undefined> {
    const { trace } = state;
    trace?.phase('authenticate');
    const identified = identify(context, request, state, true);
    if (identified !== undefined) await identified;
    if (!cors.admits(request)) fail('FORBIDDEN', 'pages of this origin may not call this endpoint');
    if (request.method !== 'POST') fail('METHOD_NOT_ALLOWED');
    requireUsable(state.credential);
    if (context.isSandbox && request.headers['x-sandbox-now'] !== undefined)
      fail('BAD_REQUEST', 'x-sandbox-now is for /graphql alone');

    trace?.phase('read');
    const bytes = await readJsonBody(request);
    await identifyAgain(context, request, state);
    await request.admit(state.principal?.owner, bytesParsed(bytes.length));
    const message = parseMessage(textOf(bytes));
    if (message.id !== undefined) state.messageId = message.id;
    const principal =
      state.principal ?? fail('UNAUTHENTICATED', 'send a valid MCP key as x-api-key');
    // A call of a tool costs what its operation costs.
    const isCall = message.method === 'tools/call' && message.id !== undefined;
    if (!isCall && !(await charge(limiter, request, state))) fail('RATE_LIMITED');

    // Loaded at the first message with a valid key: it takes 10 MB and a tenth of a second.
    respondToMessage ??= import('./protocol.ts').then(({ load }) => load(context, describe));
    const respondTo = await respondToMessage;
    const { status, body } = await respondTo(message, { request, state, principal });
    return finished(status, body, request, state);
  }
}

function finished(
  status: number,
  body: RpcResponse | undefined,
  { requestId }: HttpRequest,
  state: RequestState,
): object | undefined {
  state.status = status;
  if (body === undefined || !('error' in body)) return body;
  const { code, error } = withCode(body.error, status, requestId);
  state.codes = [code];
  return { ...body, error };
}
