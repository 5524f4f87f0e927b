// The pages for partners' engineers: which path gets which page, each prepared once.
import { logMasked } from '@partner-loyalty/gateway/edge/endpoint.ts';
import type { GraphStore } from '@partner-loyalty/gateway/graph/graph.ts';
import type { DocumentedGraph } from '@partner-loyalty/gateway/graph/served.ts';
import { hasCredential } from '@partner-loyalty/gateway/pages/visit.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { once } from '@partner-loyalty/runtime/once.ts';
import {
  observed,
  pageHeaders,
  pageResponse,
  UNAVAILABLE,
  withoutSlash,
} from '@partner-loyalty/runtime/pages/layout.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import Negotiator from 'negotiator';
import { docsRoutes, referenceRoutes } from './docs/routes.ts';
import { explorerRoutes } from './explorer/explorer.ts';
import { type About, DOCS_STYLE } from './frame.ts';
import { homePage, notFoundPage } from './home.ts';
import { prepare, preparedResponse, type Route } from './prepared.ts';

const HEADERS_OF_HOME = {
  ...pageHeaders(DOCS_STYLE, ["form-action 'none'"]),
  // Browsers keep the page and ask whether it is still the same.
  'cache-control': 'no-cache',
};

type PagesParts = {
  about: About;
  settings: Pick<
    Settings,
    'rateLimitBudget' | 'rateLimitWindowSeconds' | 'explorer' | 'idTokenMemberClaim'
  >;
  graphs: { current(): DocumentedGraph };
  store: Pick<GraphStore, 'versions'>;
  log: Log;
};

/** Returns undefined for a request that is for no page. */
type Pages = (request: HttpRequest) => Promise<HttpResponse> | undefined;

/**
 * Answers a client that opens one of the pages or their parts, and with a 404 page a browser that
 * opens something else; undefined for any other request. Never rejects. A request costs nothing but
 * the bytes of its response, however often it comes.
 */
export function createPages(parts: PagesParts): Pages {
  const { about, graphs, log } = parts;
  const current = () => graphs.current();
  const routes = createRoutes(parts, current);
  const inReference = referenceRoutes({ about, current });

  function respond(request: HttpRequest, { content }: Route): Promise<HttpResponse> {
    const response = () =>
      content()
        .then((prepared) => preparedResponse(prepared, request))
        .catch((error: unknown) => {
          logMasked(log, request.requestId, error);
          return pageResponse(500, UNAVAILABLE);
        });
    return observed(request, response, log);
  }

  const notFound = { status: 404, headers: HEADERS_OF_HOME, body: notFoundPage(about) };
  const respondNotFound = (request: HttpRequest) => observed(request, async () => notFound, log);

  return (request) => {
    const { path, method } = request;
    const shown = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
    const isRead = method === 'GET' || method === 'HEAD';
    if (!isRead || hasCredential(request)) return undefined;
    const route = routes.get(shown) ?? inReference(shown);
    if (route === undefined) return namesHtml(request) ? respondNotFound(request) : undefined;
    if (route.isPage && !acceptsHtml(request)) return undefined;
    return shown === path
      ? respond(request, route)
      : observed(request, async () => withoutSlash(request), log);
  };
}

function createRoutes({ about, settings, store }: PagesParts, current: () => DocumentedGraph) {
  const { rateLimitBudget: budget, rateLimitWindowSeconds: windowSeconds } = settings;
  const explorer =
    settings.explorer === 'on' ? explorerRoutes(about, settings.idTokenMemberClaim, current) : [];
  return new Map<string, Route>([
    ['/', { isPage: true, content: once(() => prepare(homePage(about), HEADERS_OF_HOME)) }],
    ...docsRoutes({ about, budget: { budget, windowSeconds }, current, store }),
    ...explorer,
  ]);
}

/** All browsers name it, unlike clients of the API that do not say what they accept. */
function namesHtml(request: HttpRequest): boolean {
  return (
    request.headers.accept?.toLowerCase().includes('text/html') === true && acceptsHtml(request)
  );
}

function acceptsHtml({ headers: { accept } }: HttpRequest): boolean {
  return new Negotiator({ headers: { accept } }).mediaTypes(['text/html']).length > 0;
}
