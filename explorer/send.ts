// Sends an operation to the service, and returns the response with its duration.
import { type Credential, credentialHeader } from './credential.ts';

export type Operation = {
  query: string;
  variables?: Record<string, unknown> | undefined;
  operationName?: string | undefined;
};

export type GraphqlError = {
  message?: string;
  extensions?: { code?: string; correctEndpoint?: string };
};

export type TimedResponse = {
  status: number;
  statusText: string;
  headers: Headers;
  milliseconds: number;
  body: { data?: unknown; errors?: GraphqlError[] };
};

/** Rejects if there is no response, or one that is not from this service. */
export async function send(
  operation: Operation,
  credential: Credential | undefined,
  signal?: AbortSignal,
): Promise<TimedResponse> {
  const startedAt = performance.now();
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(credential && credentialHeader(credential)),
    },
    body: JSON.stringify(operation),
    credentials: 'omit',
    cache: 'no-store',
    ...(signal && { signal }),
  });
  const body: TimedResponse['body'] = await response.json();
  const { status, statusText, headers } = response;
  return { status, statusText, headers, milliseconds: performance.now() - startedAt, body };
}
