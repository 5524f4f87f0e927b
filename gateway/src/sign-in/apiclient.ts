// Calls the API in this process with a member's ID token, as an application would over HTTP.
import type { ErrorCode } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';

export type ApiResponse<T> = {
  data?: T | null;
  errors?: { extensions: { code: ErrorCode } }[];
};

/** `request` is the one that is being handled: its id, address and abort signal pass through. */
export type CallApi = <T>(
  request: HttpRequest,
  idToken: string,
  query: string,
  variables: Record<string, unknown>,
) => Promise<ApiResponse<T>>;

/** `graphql` is the handler of /graphql. */
export function createApiClient(graphql: (request: HttpRequest) => Promise<HttpResponse>): CallApi {
  return async (request, idToken, query, variables) => {
    const { address, requestId, signal } = request;
    const body = Buffer.from(JSON.stringify({ query, variables }));
    const response = await graphql({
      method: 'POST',
      path: '/graphql',
      search: '',
      headers: {
        authorization: `Bearer ${idToken}`,
        'content-type': 'application/json',
      },
      address,
      requestId,
      signal,
      body: async () => body,
    });
    const text = String(response.body);
    response.observer?.ended(Buffer.byteLength(text), true);
    return JSON.parse(text);
  };
}
