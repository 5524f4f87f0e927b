// Clients of /mcp: the official one, and plain HTTP by the text of the specification.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** The current revision of the protocol, and one that begins with `initialize`. */
export const CURRENT = '2026-07-28';
export const EARLIER = '2025-06-18';

/** What each request of the current revision carries (Model Context Protocol, `_meta`). */
export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': CURRENT,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export type RpcResponse = {
  status: number;
  headers: Headers;
  text: string;
  body: {
    jsonrpc?: string;
    id?: unknown;
    result?: Record<string, unknown>;
    error?: { code: number; message: string; data: Record<string, unknown> };
  };
};

/** Posts a body to /mcp of an origin; undefined omits a header. */
export async function postMcp(
  url: string,
  body: string,
  headers: Record<string, string | undefined> = {},
  method = 'POST',
): Promise<RpcResponse> {
  const sent = Object.entries({ 'content-type': 'application/json', ...headers }).filter(
    (header): header is [string, string] => header[1] !== undefined,
  );
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const response = await fetch(`${url}/mcp`, {
    method,
    headers: sent,
    ...(hasBody && { body: Buffer.from(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? {} : JSON.parse(text),
  };
}

/** Posts a request of the current revision, with the headers that repeat its body. */
export function askMcp(
  url: string,
  key: string | undefined,
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string | undefined> = {},
): Promise<RpcResponse> {
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: ENVELOPE } };
  return postMcp(url, JSON.stringify(body), {
    'x-api-key': key,
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': CURRENT,
    'mcp-method': method,
    ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
    ...headers,
  });
}

/** The message of a call, as clients of earlier revisions send it: no header repeats it. */
export function toolCall(name: string, args: Record<string, unknown>): object {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
}

/** Calls a tool over plain HTTP. */
export function callMcp(
  url: string,
  key: string | undefined,
  name: string,
  args: Record<string, unknown>,
  headers: Record<string, string | undefined> = {},
): Promise<RpcResponse> {
  return askMcp(url, key, 'tools/call', { name, arguments: args }, headers);
}

/** Connects the official client, on the current revision or as it does by default. */
export async function connectMcp(url: string, key: string, mode?: 'auto'): Promise<Client> {
  const requestInit = { headers: { 'x-api-key': key } };
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit });
  const info = { name: 'test', version: '1' };
  const client = new Client(info, mode === undefined ? {} : { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}
