// The gateway as one handler of plain requests, built from its parts.
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Readiness } from '@partner-loyalty/runtime/process/readiness.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { createLimiter } from './budget/limiter.ts';
import { createCors, GRAPHQL_CORS } from './edge/cors.ts';
import { createObserveRequest, withShownAddresses } from './edge/requestline.ts';
import { handle, isEndpoint } from './handle.ts';
import { createAuthenticator } from './identity/authenticate.ts';
import { openTokenVerifier } from './identity/idtoken.open.ts';
import { createKeyring } from './identity/keyring.ts';
import { createOwnProvider, createOwnTokens } from './identity/ownprovider.ts';
import { createSuspensions } from './identity/suspensions.ts';
import { createShared } from './operate.ts';
import { createCookies, createForms } from './pages/forms.ts';
import { createVisit } from './pages/visit.ts';
import type { Core, Extension, GatewayExtension, GatewayParts } from './ports.ts';
import { createReadiness } from './readiness.ts';
import { createDeprecationHeaders } from './schema/dates.ts';

export type Gateway = {
  /** Handles a request to any path. Rejects with an ApiError if too many are in progress. */
  handle(request: HttpRequest): Promise<HttpResponse>;
  /** Whether it can answer anything, and the state of its dependencies. */
  ready(): Promise<Readiness>;
  /** Closes the extensions. */
  close(): Promise<void>;
};

/** The caller closes the parts. The first extension that takes a path handles its requests. */
export function openGateway(
  given: GatewayParts,
  extensions: readonly GatewayExtension[] = [],
): Gateway {
  const log = withShownAddresses(given.log, given.settings.logClientAddress);
  const parts = { ...given, log };
  const { settings, keyStore, counters, graphs, audit, caches, metrics } = parts;
  const { environment, rateLimitBudget: keyBudget, corsOrigins, logClientAddress } = settings;
  const { own, other } = baseUrls(settings);
  const ownProvider = createOwnProvider(graphs.askProvider);
  const limiter = createLimiter(counters, settings.rateLimitWindowSeconds, metrics);
  const { refusals } = limiter;
  const keyring = createKeyring({ store: keyStore, caches, metrics, refusals, log });
  const isSandbox = environment === 'sandbox';
  const shared = {
    ...{ ...parts, ...createShared(), limiter, isSandbox },
    observe: createObserveRequest({ ...parts, logClientAddress }),
  };
  const offersSignIn = settings.idTokenIssuer === undefined;
  const ownTokens = createOwnTokens(ownProvider);
  const apps = offersSignIn ? ownTokens.origins : undefined;
  const tokens = openTokenVerifier(settings, { keyStore, ownUrl: own, ownTokens, caches, log });
  const isSuspended = createSuspensions(keyStore, caches, log);
  const context = {
    ...shared,
    authenticate: createAuthenticator({
      ...{ environment, keyring, keyBudget, tokens, isSuspended },
      isOver: refusals.isOver,
    }),
    cors: createCors(corsOrigins, GRAPHQL_CORS, apps),
    addDeprecation: createDeprecationHeaders(own),
    correctEndpoint: `${other}/graphql`,
  };
  const graphql = (request: HttpRequest) => handle(context, request);
  const visit = createVisit({
    ...{ limiter, log, cookies: createCookies(own) },
    sessions: () => opened.flatMap(({ sessions }) => sessions ?? []),
  });
  const core: Core = {
    ...{ ...shared, own, other, ownProvider, apps, keyring, graphql, visit },
    forms: createForms(own, keyStore),
  };
  const opened: Extension[] = extensions.map(({ open }) => open?.(core) ?? {});

  return {
    handle(request) {
      if (isEndpoint(request)) return graphql(request);
      for (const extension of opened) {
        const response = extension.handle?.(request);
        if (response !== undefined) return response;
      }
      return graphql(request);
    },
    ready: createReadiness({
      keyStore,
      keyring,
      counters,
      audit,
      transports: () =>
        Array.from(graphs.current().connections, ([name, { transport }]) => [name, transport]),
    }),
    async close() {
      await Promise.all(opened.map(({ close }) => close?.()));
    },
  };
}

/** The base URLs of this environment and of the other one. */
function baseUrls({ environment, sandboxUrl, productionUrl }: Settings) {
  return environment === 'sandbox'
    ? { own: sandboxUrl, other: productionUrl }
    : { own: productionUrl, other: sandboxUrl };
}
