// Hands requests over to the built-in identity provider, and renders the pages it answers with.
import type { ResponseHeaders } from '@partner-loyalty/runtime/http/headers.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import {
  FORWARDED_HEADERS,
  type IdentityResponse,
} from '@partner-loyalty/runtime/signin/exchange.ts';
import { cardHeaders, pageResponse } from '../pages/layout.ts';
import { cardOf } from './cards.ts';
import { textsOf } from './language.ts';
import type { MembersClient } from './membersclient.ts';
import type { ShowAccount } from './profile.ts';

export type Provider = {
  /** Resolves with what the provider answers. Rejects with an ApiError if it is unavailable. */
  ask(request: HttpRequest, body: string): Promise<IdentityResponse>;
  /** The response that an answer asks for. */
  respond(request: HttpRequest, answer: IdentityResponse): Promise<HttpResponse>;
};

/** What a response of the provider may have; the gateway decides about the others. */
const PASSED_HEADERS = [
  'allow',
  'cache-control',
  'content-type',
  'location',
  'set-cookie',
  'www-authenticate',
] as const;

export function createProvider(
  members: Pick<MembersClient, 'identityRequest'>,
  showAccount: ShowAccount,
): Provider {
  async function render(
    request: HttpRequest,
    status: number,
    page: NonNullable<IdentityResponse['page']>,
  ): Promise<HttpResponse> {
    const texts = textsOf(request);
    if (page.name === 'account') return showAccount(request, page, texts);
    return pageResponse(status, cardOf(page, texts), cardHeaders(page.formOrigins ?? []));
  }

  return {
    ask(request, body) {
      const { method, path, search, address: clientAddress, requestId } = request;
      const headers = forwardedHeaders(request);
      const { language } = textsOf(request);
      return members.identityRequest(
        // A page is made as a whole; the server leaves out its body.
        {
          method: method === 'HEAD' ? 'GET' : method,
          path,
          search,
          headers,
          body,
          clientAddress,
          language,
        },
        requestId,
      );
    },
    async respond(request, { status, headers, body = '', page }) {
      const passed = passedHeaders(headers);
      // Links for readers without a browser, which are no page of ours.
      if (page === undefined)
        return { status, headers: passed, body: status < 400 && status >= 300 ? '' : body };
      const { 'content-type': _, ...rest } = passed;
      const rendered = await render(request, status, page);
      return { ...rendered, headers: { ...rendered.headers, ...rest } };
    },
  };
}

function forwardedHeaders({ headers }: HttpRequest): Record<string, string> {
  return Object.fromEntries(
    FORWARDED_HEADERS.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, String(value)]];
    }),
  );
}

function passedHeaders(headers: IdentityResponse['headers']): ResponseHeaders {
  const passed = PASSED_HEADERS.flatMap((name) => {
    const value = headers[name];
    if (value === undefined) return [];
    return [[name, name === 'set-cookie' ? [value].flat() : String(value)]];
  });
  return Object.fromEntries(passed);
}
