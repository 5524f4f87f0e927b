// Requests to a service of several workers, and what its primary and its processes show of them.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type RequestOptions, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { DeployedService } from './deployed.ts';
import type { Running } from './stack.ts';

export const QUERY = '{ memberByEmail(email: "both@example.com") { memberId tier } }';
export const ANSWER = '{"data":{"memberByEmail":{"memberId":"m-both","tier":"Silver"}}}';

export const HANG = 'no response';

type SentRequest = {
  url: string;
  key: string;
  query?: string;
  variables?: object;
  requestId?: string;
  agent?: RequestOptions['agent'];
};

/**
 * Sends a request on a new connection, or on one of `agent`. Rejects if the connection ends before
 * the response, or after a minute, in which case the service hangs.
 */
export async function send({
  url,
  key,
  query = QUERY,
  variables,
  requestId = 'any',
  agent = false,
}: SentRequest): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    'x-partner-api-key': key,
    'x-request-id': requestId,
  };
  const sent = request(`${url}/graphql`, { method: 'POST', headers, agent, timeout: 60_000 });
  sent.on('timeout', () => sent.destroy(new Error(HANG)));
  sent.end(JSON.stringify({ query, variables }));
  const [response] = await once(sent, 'response');
  return `${response.statusCode} ${await text(response)}`;
}

export const isReady = async ({ adminUrl }: Running) =>
  (await fetch(`${adminUrl}/readyz`)).status === 200;
/** `up` if all workers accept requests, `degraded` if some do not. */
export const workersStateOf = async ({ adminUrl }: Running) => {
  const body = await (await fetch(`${adminUrl}/readyz`)).json();
  // Cast: the form that the contract promises.
  return (body as { dependencies: Record<string, string> }).dependencies.workers;
};
export const isComplete = async (running: Running) => (await workersStateOf(running)) === 'up';
export const metricsOf = async ({ adminUrl }: Running) =>
  (await fetch(`${adminUrl}/metrics`)).text();

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The process ids of the workers, oldest first, including those that are still starting. */
export function workersOf({ pid }: Running): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return (children.match(/\d+/g) ?? []).map(Number);
}

/** Begins a request on a new connection. Resolves when a worker waits for the body. */
export async function beginRequest({
  stack,
  keys,
}: DeployedService): Promise<{ socket: Socket; end: () => Promise<string> }> {
  const { hostname, port } = new URL(stack.gateway.url);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  const body = JSON.stringify({ query: QUERY });
  const head = [
    'POST /graphql HTTP/1.1',
    'host: x',
    'content-type: application/json',
    `x-partner-api-key: ${keys.alpha}`,
    'connection: close',
  ];
  socket.write(
    `${[...head, `content-length: ${body.length}`, 'expect: 100-continue'].join('\r\n')}\r\n\r\n`,
  );
  expect(String(await once(socket, 'data'))).toContain('100 Continue');
  const end = async () => {
    socket.write(body);
    return text(socket);
  };
  return { socket, end };
}
