// Hands requests over to the built-in identity provider, and passes on what it responds with.
import { failed } from '@partner-loyalty/gateway/graph/exchange.ts';
import type { ServedGraphs } from '@partner-loyalty/gateway/graph/served.ts';
import type { BrowserSessions } from '@partner-loyalty/gateway/pages/visit.ts';
import type { Core } from '@partner-loyalty/gateway/ports.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { createPlaces } from '@partner-loyalty/runtime/eventloop/places.ts';
import { addressSite } from '@partner-loyalty/runtime/http/address.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { PEOPLE } from '@partner-loyalty/runtime/http/shares.ts';
import { textsOf } from '@partner-loyalty/runtime/pages/language.ts';
import {
  FORWARDED_HEADERS,
  type IdentityRequest,
  type IdentityResponse,
  SESSION_PATH,
} from '@partner-loyalty/runtime/signin/exchange.ts';
import { showAccount } from './profile.ts';

export type Provider = {
  /**
   * Resolves with what the provider answers, or with what `within` makes of it. A process asks the
   * provider 4 questions at a time, for owners in turn. Rejects with an ApiError if the provider is
   * unavailable, if there are more than 100 parameters in the query or the body, or if the path has
   * dots to resolve.
   */
  ask(request: HttpRequest, body: string, options?: AskOptions): Promise<IdentityResponse>;
  /** The response that an answer asks for. */
  respond(request: HttpRequest, answer: IdentityResponse): Promise<HttpResponse>;
};

type Ask = () => Promise<IdentityResponse>;

export type AskOptions = {
  formId?: string | undefined;
  /** Who asks, if it is known; else the client's address does. */
  owner?: string | undefined;
  /** Runs when it is the request's turn, which ends when it resolves; it may leave out to ask. */
  within?(ask: Ask): Promise<IdentityResponse>;
};

const PLACES = { places: 4, ofOwner: 4, waitMs: 10_000, waiting: 128 };

/** The provider's parser takes time with the square of them, on the thread of all requests. */
const MAX_PARAMETERS = 100;

/** What a response of the provider may have; the gateway decides about the others. */
const PASSED_HEADERS = [
  ...['allow', 'cache-control', 'content-security-policy', 'content-type', 'location'],
  ...['referrer-policy', 'retry-after', 'set-cookie', 'www-authenticate', 'x-robots-tag'],
] as const;

export function createProvider(
  core: Pick<Core, 'graphql' | 'graphs' | 'keyStore' | 'settings'>,
): Provider {
  const place = createPlaces(PLACES);

  return {
    async ask(request, body, { formId, owner, within = (ask: Ask) => ask() } = {}) {
      const { path, search, address: clientAddress, requestId, signal, person } = request;
      if (hasTooMany(search) || hasTooMany(body)) fail('BAD_REQUEST');
      // The provider resolves dots, so it would see another path than was checked.
      if (!isResolved(path)) fail('BAD_REQUEST');
      // A page is made as a whole; the server leaves out its body.
      const method = request.method === 'HEAD' ? 'GET' : request.method;
      const headers = pick(request.headers, FORWARDED_HEADERS);
      const { language } = textsOf(request);
      const leave = await place({
        owner: owner ?? (person && PEOPLE) ?? '',
        part: addressSite(clientAddress),
        signal,
      });
      try {
        await request.turn();
        const asked = { method, path, search, headers, body, clientAddress, language, formId };
        return await within(() => forward(core.graphs, asked, requestId));
      } finally {
        leave();
      }
    },
    async respond(request, { status, headers, body = '', account }) {
      const passed = pick(headers, PASSED_HEADERS);
      // The page with the link is for readers without a browser, and no page of ours.
      if (account === undefined)
        return { status, headers: passed, body: status < 400 && status >= 300 ? '' : body };
      const rendered = await showAccount(core, request, account, textsOf(request));
      return { ...rendered, headers: { ...passed, ...rendered.headers } };
    },
  };
}

/** Finds which member is signed in with a session. */
export function createPersonOf({ graphs }: Pick<Core, 'graphs'>): BrowserSessions['personOf'] {
  return async (body, { address: clientAddress, requestId }) => {
    const asked = { method: 'GET', path: SESSION_PATH, search: '', headers: {}, language: 'en' };
    return (await forward(graphs, { ...asked, clientAddress, body }, requestId)).owner;
  };
}

/** Hands a request over to the provider, once: it is never sent again. */
export async function forward(
  { askProvider }: Pick<ServedGraphs, 'askProvider'>,
  forwarded: IdentityRequest,
  requestId: string,
): Promise<IdentityResponse> {
  const caller = { kind: 'service' } as const;
  const { data, errors } = await askProvider({ query: '', forwarded, caller, requestId });
  // Cast: what the provider has made.
  return data ? (data as IdentityResponse) : failed(errors);
}

/** Whether a query or form has too many parameters. */
export function hasTooMany(parameters: string): boolean {
  return parameters.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS;
}

function isResolved(path: string): boolean {
  const url = `http://localhost${path}`;
  return URL.canParse(url) && new URL(url).pathname === path;
}

function pick(headers: object, names: readonly string[]): Record<string, string> {
  const picked = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && names.includes(name),
  );
  return Object.fromEntries(picked);
}
