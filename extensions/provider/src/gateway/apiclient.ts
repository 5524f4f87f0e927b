// Calls of the API from the pages and documents for members, in this process, with their token.
import type { Core } from '@partner-loyalty/gateway/ports.ts';
import type { ErrorCode } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { decodeJwt, decodeProtectedHeader } from 'jose';

type ApiResponse<T> = {
  data?: T | null;
  errors?: { extensions: { code: ErrorCode; retryAfter?: number } }[];
};

/** `request` is the one that is being handled: its id, address and abort signal pass through. */
export async function callApi<T>(
  { graphql }: Pick<Core, 'graphql'>,
  request: HttpRequest,
  token: string,
  query: string,
  variables: Record<string, unknown>,
): Promise<ApiResponse<T>> {
  const { address, requestId, signal } = request;
  const body = Buffer.from(JSON.stringify({ query, variables }));
  const response = await graphql({
    method: 'POST',
    path: '/graphql',
    search: '',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    },
    address,
    requestId,
    signal,
    body: async () => body,
    // A page is in progress already.
    admit: (owner, bytes) => request.admit(owner, bytes),
    turn: () => request.turn(),
    reserve: (bytes) => request.reserve(bytes),
  });
  const text = String(response.body);
  response.observer?.ended(Buffer.byteLength(text), true);
  return JSON.parse(text);
}

/** What a token says of itself, unverified: the API verifies it, so it refuses a forged one. */
export function claimsIn(token: string) {
  try {
    const { sub = '-', client_id, scope } = decodeJwt(token);
    return { typ: decodeProtectedHeader(token).typ, sub, client_id, scope };
  } catch {
    return { sub: '-' };
  }
}
