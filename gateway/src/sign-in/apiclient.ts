// Calls the API in this process with a member's ID token, as an application would over HTTP.
import type { ErrorCode } from '@partner-loyalty/runtime/errors.ts';
import type { HttpReply } from '@partner-loyalty/runtime/http/reply.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';

export type ApiReply<T> = {
  data?: T | null;
  errors?: { extensions: { code: ErrorCode } }[];
};

/** `request` is the one that is being handled: its id, address and abort signal pass through. */
export type CallApi = <T>(
  request: HttpRequest,
  idToken: string,
  query: string,
  variables: Record<string, unknown>,
) => Promise<ApiReply<T>>;

/** `graphql` is the handler of /graphql. */
export function createApiClient(graphql: (request: HttpRequest) => Promise<HttpReply>): CallApi {
  return async (request, idToken, query, variables) => {
    const { address, requestId, signal } = request;
    const body = Buffer.from(JSON.stringify({ query, variables }));
    const reply = await graphql({
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
    const text = String(reply.body);
    reply.observer?.ended(Buffer.byteLength(text), true);
    return JSON.parse(text);
  };
}
