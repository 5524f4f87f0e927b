// Responds to messages with the protocol's library, which is loaded with this file.
import type { OperateContext } from '@partner-loyalty/gateway/operate.ts';
import type { RequestHeaders } from '@partner-loyalty/runtime/http/headers.ts';
import { RpcError, type RpcErrorObject } from './errors.ts';
import type { RpcMessage } from './message.ts';
import { createRunTool, type Exchange, type ToolResult } from './runtool.ts';
import { TOOL_LIST } from './tools.ts';

export type RpcResponse = { jsonrpc: '2.0'; id: unknown } & (
  | { result: unknown }
  | { error: RpcErrorObject }
);

/** The HTTP status and the body of the response; a notification has none. */
type McpResponse = { status: number; body: RpcResponse | undefined };

/** Rejects with the reason if the operation of a tool is refused. */
export type RespondToMessage = (message: RpcMessage, exchange: Exchange) => Promise<McpResponse>;

const SERVER_INFO = {
  name: 'partner-loyalty',
  title: 'Partner Loyalty',
  version: '1.0.0',
  description: 'Reads the loyalty members of one partner.',
};
const INSTRUCTIONS =
  "Reads the partner's own loyalty members; nothing here changes anything. find_member takes " +
  'exactly one of email, externalId and memberId. Keep the memberId: it never changes. A member ' +
  'who is not enrolled with this partner is MEMBER_NOT_FOUND, like one who does not exist. After ' +
  'RATE_LIMITED or SERVICE_UNAVAILABLE, wait for the number of seconds in retryAfter.';

/** The headers of a request that the library gets; the key is not among them. */
const READ_HEADERS = ['mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;
/** Every response is JSON, and a client that accepts only that gets it too. */
const FIXED_HEADERS: [string, string][] = [
  ['content-type', 'application/json'],
  ['accept', 'application/json, text/event-stream'],
];

/** Opens a stream for messages that the server initiates, of which there are none. */
const LISTEN = 'subscriptions/listen';

/**
 * Loads the library in two steps, between which other requests run: a single step would block the
 * event loop for over 50 ms.
 */
export async function load(context: OperateContext): Promise<RespondToMessage> {
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/server/validators/ajv');
  const library = await import('@modelcontextprotocol/server');
  const jsonSchemaValidator = new AjvJsonSchemaValidator();
  const callTool = createRunTool(context);

  // The lower-level class: it leaves the arguments of tools to our checks, which say what is wrong
  // by this API's codes.
  function createServer(call: CallTool) {
    const server = new library.Server(SERVER_INFO, {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      jsonSchemaValidator,
    });
    server.setRequestHandler('tools/list', () => ({ tools: TOOL_LIST }));
    server.setRequestHandler('tools/call', ({ params }) => call(params.name, params.arguments));
    return server;
  }

  async function respond(message: RpcMessage, request: Request, isLegacy: boolean, call: CallTool) {
    const options = { parsedBody: message };
    const server = createServer(call);
    if (!isLegacy)
      return library.createMcpHandler(() => server, { legacy: 'reject' }).fetch(request, options);
    // Revisions before 2026-07-28, which begin with `initialize`, but need no session either.
    const transport = new library.WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: true,
    });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, options);
    } finally {
      await server.close();
    }
  }

  return async (message, exchange) => {
    if (message.method === LISTEN && message.id !== undefined)
      return errorOf(404, message.id, -32601, 'Method not found');
    const request = toRequest(exchange.request.headers);
    const isLegacy = await library.isLegacyRequest(request, message);
    // The library's response to an error has neither its code nor its status.
    const refusals: unknown[] = [];
    const response = await respond(message, request, isLegacy, (name, args = {}) =>
      callTool(exchange, name, args).catch((reason) => {
        refusals.push(reason);
        throw reason;
      }),
    );
    const text = await response.text();
    const [refusal] = refusals;
    // To these clients, another status is a broken connection: they do not read the body.
    if (isLegacy && refusal instanceof RpcError)
      return errorOf(200, message.id, refusal.rpcCode, refusal.message);
    if (refusal !== undefined) throw refusal;
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  };
}

type CallTool = (name: string, args?: Record<string, unknown>) => Promise<ToolResult>;

function toRequest(headers: RequestHeaders): Request {
  const read = READ_HEADERS.flatMap((name): [string, string][] => {
    const value = headers[name];
    return value === undefined ? [] : [[name, String(value)]];
  });
  const all = [...FIXED_HEADERS, ...read];
  return new Request('http://localhost/mcp', { method: 'POST', headers: all });
}

function errorOf(status: number, id: unknown, code: number, message: string): McpResponse {
  return { status, body: { jsonrpc: '2.0', id, error: { code, message } } };
}
