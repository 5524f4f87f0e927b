// The pages for partners' engineers: which path gets which page, each prepared once.
import {
  HEADERS,
  type HttpReply,
  type HttpRequest,
  type Log,
  type Settings,
} from '@partner-loyalty/runtime';
import type { GraphQLSchema } from 'graphql';
import Negotiator from 'negotiator';
import { pageHeaders, pageReply } from '../html/layout.ts';
import { pageObserver } from '../html/observer.ts';
import type { SurfaceName } from '../planning/contract.ts';
import { logMasked } from '../reply.ts';
import { UNAVAILABLE } from '../signin/notices.ts';
import { docsPage } from './docs/docs.ts';
import type { About } from './frame.ts';
import { homePage } from './home.ts';
import { type Prepared, prepare, preparedReply } from './prepared.ts';
import { STYLE } from './style.ts';

export const HOME_PATH = '/';
export const DOCS_PATH = '/docs';

const HEADERS_OF_PAGES = {
  ...pageHeaders(STYLE, ["form-action 'none'"]),
  // Browsers keep the page and ask whether it is still the same.
  [HEADERS.cacheControl.name]: 'no-cache',
};

/** What the reference shows of a graph. */
type DocumentedGraph = {
  version: number;
  surfaces: Readonly<Record<SurfaceName, { schema: GraphQLSchema }>>;
};

type PagesParts = {
  about: About;
  settings: Pick<Settings, 'rateLimitBudget' | 'rateLimitWindowSeconds'>;
  graphs: { current(): DocumentedGraph };
  log: Log;
};

/**
 * Answers a browser that opens one of the pages; undefined for any other request. Never rejects.
 * A request costs nothing but the bytes of its response, however often it comes.
 */
export function createPages(
  parts: PagesParts,
): (request: HttpRequest) => Promise<HttpReply> | undefined {
  const { about, log } = parts;
  let home: Promise<Prepared> | undefined;
  const docs = createDocs(parts);

  function prepared(path: string): Promise<Prepared> | undefined {
    switch (path) {
      case HOME_PATH:
        home ??= prepare(homePage(about), HEADERS_OF_PAGES);
        return home;
      case DOCS_PATH:
        return docs();
      default:
        return undefined;
    }
  }

  async function answer(request: HttpRequest, page: Promise<Prepared>): Promise<HttpReply> {
    const startedAt = performance.now();
    const reply = await page
      .then((each) => preparedReply(each, request))
      .catch((error: unknown) => {
        logMasked(log, request.requestId, error);
        return pageReply(500, UNAVAILABLE);
      });
    const { path } = request;
    return { ...reply, observer: pageObserver(path, request, reply.status, startedAt, log) };
  }

  return (request) => {
    if (!opensPage(request)) return undefined;
    const page = prepared(request.path);
    return page && answer(request, page);
  };
}

/** The page of each graph, which goes with its graph. */
function createDocs({ about, settings, graphs }: PagesParts): () => Promise<Prepared> {
  const pages = new WeakMap<DocumentedGraph, Promise<Prepared>>();
  const budget = {
    budget: settings.rateLimitBudget,
    windowSeconds: settings.rateLimitWindowSeconds,
  };
  async function build({
    version,
    surfaces: { partner, member },
  }: DocumentedGraph): Promise<Prepared> {
    const schemas = { partner: partner.schema, member: member.schema };
    return prepare(docsPage(about, { version, schemas }, budget), HEADERS_OF_PAGES);
  }
  return () => {
    const graph = graphs.current();
    const page = pages.get(graph) ?? build(graph);
    pages.set(graph, page);
    return page;
  };
}

/**
 * Whether a browser opens a page. A request with a credential is one to the API, which counts it
 * whatever its path is.
 */
function opensPage({ method, headers }: HttpRequest): boolean {
  const { accept } = headers;
  return (
    (method === 'GET' || method === 'HEAD') &&
    headers[HEADERS.partnerKey.name] === undefined &&
    headers[HEADERS.authorization.name] === undefined &&
    accept?.toLowerCase().includes('text/html') === true &&
    new Negotiator({ headers: { accept: accept.toLowerCase() } }).mediaTypes().includes('text/html')
  );
}
