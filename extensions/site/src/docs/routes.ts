// The routes of the documentation. What makes their content is loaded when one is first asked for.
import { once as onceEmitted } from 'node:events';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { GraphStore } from '@partner-loyalty/gateway/graph/graph.ts';
import type { DocumentedGraph } from '@partner-loyalty/gateway/graph/served.ts';
import { SURFACE_NAMES } from '@partner-loyalty/gateway/schema/surfaces.ts';
import { createPlaces } from '@partner-loyalty/runtime/eventloop/places.ts';
import { once } from '@partner-loyalty/runtime/once.ts';
import { pageHeaders } from '@partner-loyalty/runtime/pages/layout.ts';
import { textBeside } from '@partner-loyalty/runtime/pages/style.ts';
import { RUN } from '@partner-loyalty/runtime/process/run.ts';
import { type About, baseUrlOf, DOCS_STYLE } from '../frame.ts';
import { onceForEach, prepare, type Route } from '../prepared.ts';
import { readChangelogs } from './changelogs.ts';
import {
  DOCS_PATH,
  GUIDE_EXAMPLES,
  guideExamplePath,
  INDEX_PATH,
  LICENSES_PATH,
  LLMS_PATH,
  PAGES,
  pagePath,
  SCRIPT_PATH,
  schemaPath,
  TEXT_START,
} from './paths.ts';
import { groupsOf, type Referred } from './reference.ts';
import type { Documented } from './scopes.ts';
import type { Budget } from './tables.ts';

const PAGE_HEADERS = {
  ...pageHeaders(DOCS_STYLE, ["script-src 'self'", "connect-src 'self'", "form-action 'none'"]),
  // Browsers keep the page and ask whether it is still the same.
  'cache-control': 'no-cache',
};

const textOf = (file: string) => textBeside(import.meta.dirname, file);

/** In characters of the reference, whose schemas other teams write. Our own has 200,000. */
const MAX_INDEXED = 4_000_000;
/** The thread that indexes the largest reference takes seconds. */
const INDEX_KEPT_MS = 600_000;

type DocsParts = {
  about: About;
  budget: Budget;
  current: () => DocumentedGraph;
  store: Pick<GraphStore, 'versions'>;
};

export function docsRoutes({ about, budget, current, store }: DocsParts): [string, Route][] {
  const baseUrl = baseUrlOf(about);
  const reference = onceForEach(current, async (graph) => {
    const { docsPage } = await import('./docs.ts');
    const { partner, member } = graph.surfaces;
    const schemas = { partner: partner.schema, member: member.schema };
    const changelogs = await readChangelogs(store, graph);
    const served = { version: graph.version, schemas, scopes: partner.rootScopes, changelogs };
    return prepare(docsPage(about, served, budget), PAGE_HEADERS);
  });
  const pages: [string, Route][] = [
    [DOCS_PATH, { isPage: true, content: reference }],
    ...PAGES.map((page) => pageRoute(page, about)),
  ];
  const indexing = createPlaces({ places: 1 });
  const indexed = async (graph: DocumentedGraph) => {
    const { referenceText } = await import('./surface.ts');
    const texts = new Map<string, string>();
    for (const [path, { content }] of pages)
      texts.set(path, (await content()).bodies.identity.toString());
    let left = MAX_INDEXED;
    for (const [path, { documented, shown }] of referenceOf(graph)) {
      await nextTurn();
      const text = `${TEXT_START}${referenceText(about, documented, shown).html}`;
      left -= text.length;
      if (left < 0) break;
      texts.set(path, text);
    }
    return prepare(await searchIndex(texts), headersOf('application/json'));
  };
  const indexInTurn = async (graph: DocumentedGraph) => {
    const leave = await indexing();
    return indexed(graph).finally(leave);
  };
  const index = onceForEach(current, indexInTurn, INDEX_KEPT_MS);
  return [
    ...pages,
    [INDEX_PATH, { isPage: false, content: index }],
    [SCRIPT_PATH, textRoute('text/javascript', async () => textOf('app.generated.js'))],
    [LICENSES_PATH, textRoute('text/plain', async () => textOf('licenses.txt'))],
    [LLMS_PATH, textRoute('text/plain', async () => (await import('./llms.ts')).llmsText(about))],
    ...PAGES.map((page): [string, Route] => [
      `${pagePath(page)}.md`,
      textRoute('text/markdown', async () => (await import('./guides.ts')).pageText(page, baseUrl)),
    ]),
    ...GUIDE_EXAMPLES.map((path): [string, Route] => [
      guideExamplePath(path),
      textRoute('text/plain', async () =>
        (await import('./guides.ts')).guideExample(path, baseUrl),
      ),
    ]),
    ...SURFACE_NAMES.map((surface): [string, Route] => {
      const content = onceForEach(current, async ({ surfaces }) =>
        prepare(surfaces[surface].sdl, headersOf('text/plain')),
      );
      return [schemaPath(surface), { isPage: false, content }];
    }),
  ];
}

function pageRoute(page: string, about: About): [string, Route] {
  const content = once(async () => {
    const { callersPage } = await import('./page.ts');
    return prepare(callersPage(about, page), PAGE_HEADERS);
  });
  return [pagePath(page), { isPage: true, content }];
}

type Reference = { documented: Documented; shown: Referred };

function referenceOf({ surfaces }: DocumentedGraph): ReadonlyMap<string, Reference> {
  const all = SURFACE_NAMES.flatMap((surface) => {
    const { schema, rootScopes } = surfaces[surface];
    const scopes = surface === 'partner' ? rootScopes : undefined;
    return groupsOf(surface, schema)
      .flatMap(({ entries }) => entries)
      .map((shown): [string, Reference] => [
        shown.path,
        { documented: { surface, schema, scopes }, shown },
      ]);
  });
  return new Map(all);
}

/** Schemas of other teams may have any number of types: so many pages are kept, the latest. */
const MOST_KEPT = 200;

/** Finds the page of an operation or a type of the graph that serves. */
export function referenceRoutes({ about, current }: Pick<DocsParts, 'about' | 'current'>) {
  const known = new WeakMap<
    DocumentedGraph,
    { pages: ReadonlyMap<string, Reference>; kept: Map<string, Route> }
  >();

  return (path: string): Route | undefined => {
    if (!path.startsWith(`${DOCS_PATH}/`)) return undefined;
    const graph = current();
    const { pages, kept } = known.get(graph) ?? { pages: referenceOf(graph), kept: new Map() };
    known.set(graph, { pages, kept });
    const page = pages.get(path);
    if (page === undefined) return undefined;
    const content = once(async () => {
      const { referencePage } = await import('./surface.ts');
      return prepare(referencePage(about, page.documented, page.shown), PAGE_HEADERS);
    });
    const route = kept.get(path) ?? { isPage: true, content };
    kept.delete(path);
    kept.set(path, route);
    const [oldest = ''] = kept.keys();
    if (kept.size > MOST_KEPT) kept.delete(oldest);
    return route;
  };
}

function textRoute(type: string, make: () => Promise<string>): Route {
  return { isPage: false, content: once(async () => prepare(await make(), headersOf(type))) };
}

function headersOf(type: string): Record<string, string> {
  return { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-cache' };
}

/** In a thread: where teams have written much, it takes a second. */
async function searchIndex(pages: ReadonlyMap<string, string>): Promise<string> {
  const argv = [join(import.meta.dirname, 'worker.ts')];
  const worker = new Worker(RUN, { argv, workerData: pages, execArgv: [] });
  const [index] = await onceEmitted(worker, 'message');
  return index;
}
