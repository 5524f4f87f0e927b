// The Model Context Protocol at /mcp: a request's life, checked as docs/callers/requests.md says.
import { charge } from '@partner-loyalty/gateway/budget/budget.ts';
import { bytesParsed, readJsonBody, textOf } from '@partner-loyalty/gateway/edge/body.ts';
import { type CorsRules, createCors } from '@partner-loyalty/gateway/edge/cors.ts';
import { respond } from '@partner-loyalty/gateway/edge/endpoint.ts';
import { identify, identifyAgain, requireUsable } from '@partner-loyalty/gateway/edge/identify.ts';
import { createMcpAuthenticator } from '@partner-loyalty/gateway/identity/authenticate.ts';
import type { Core, Extension } from '@partner-loyalty/gateway/ports.ts';
import { beginRequest, type RequestState } from '@partner-loyalty/gateway/state.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { RPC_FORM, withCode } from './errors.ts';
import { parseMessage } from './message.ts';
import type { RespondToMessage, RpcResponse } from './protocol.ts';

const MCP_PATH = '/mcp';

/** Pages of assistants hold a key of their own. */
const MCP_CORS: CorsRules = {
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

export function open(core: Core): Extension {
  const mcp = createMcp(core);
  return {
    handle: (request) =>
      request.path === MCP_PATH || request.path === `${MCP_PATH}/` ? mcp(request) : undefined,
  };
}

/**
 * Builds the handler of `/mcp`: the Model Context Protocol, streamable HTTP, without sessions. Its
 * tools are reads of the partner surface, which run as the operations of `/graphql` do. It never
 * throws.
 */
function createMcp(core: Core): (request: HttpRequest) => Promise<HttpResponse> {
  const { settings, keyring, tracing, limiter } = core;
  const { environment, rateLimitBudget: keyBudget, corsOrigins } = settings;
  const authenticate = createMcpAuthenticator({ environment, keyring, keyBudget });
  const cors = createCors(corsOrigins, MCP_CORS);
  const context = { ...core, authenticate, cors, correctEndpoint: `${core.other}${MCP_PATH}` };
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
    respondToMessage ??= import('./protocol.ts').then(({ load }) => load(context));
    const respondTo = await respondToMessage;
    const { status, body } = await respondTo(message, { request, state, principal });
    // A call that the library refuses has not been charged yet.
    if (!(await charge(limiter, request, state))) fail('RATE_LIMITED');
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
