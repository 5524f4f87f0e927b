// The gateway as one handler of plain requests, built from its parts.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Tracing } from '@partner-loyalty/runtime/observe/tracing/trace.ts';
import type { Readiness } from '@partner-loyalty/runtime/process/readiness.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Audit } from './audit/audit.ts';
import { createBudget } from './budget/budget.ts';
import type { Counters } from './budget/counters.ts';
import { createLimiter } from './budget/limiter.ts';
import type { Documents } from './document/documents.ts';
import { createCors, GRAPHQL_CORS, MCP_CORS, PROVIDER_CORS } from './edge/cors.ts';
import { withShownAddresses } from './edge/requestline.ts';
import type { ReadChangelogs } from './graph/changelog.ts';
import type { GraphStore } from './graph/graph.ts';
import type { ServedGraphs } from './graph/served.ts';
import { createHandler } from './handle.ts';
import { createAuthenticator, createMcpAuthenticator } from './identity/authenticate.ts';
import { openTokenVerifier } from './identity/idtoken.open.ts';
import { createKeyring } from './identity/keyring.ts';
import type { KeyStore } from './identity/keystore.ts';
import { createOwnTokens } from './identity/ownprovider.ts';
import { createSuspensions } from './identity/suspensions.ts';
import { createMcp, MCP_PATH } from './mcp/mcp.ts';
import { createOperate } from './operate.ts';
import type { About } from './pages/frame.ts';
import { once } from './pages/route.ts';
import { createVisit, hasCredential } from './pages/visit.ts';
import { createReadiness } from './readiness.ts';
import { createDeprecationHeaders } from './schema/dates.ts';
import { createApiClient } from './sign-in/apiclient.ts';
import { createForms } from './sign-in/forms.ts';
import { createInvitation, INVITATION_PATH } from './sign-in/invitation.ts';
import { createMembersClient } from './sign-in/membersclient.ts';
import { createOauth, OAUTH_PATH } from './sign-in/oauth.ts';
import { createShowAccount } from './sign-in/profile.ts';
import { createProvider } from './sign-in/provider.ts';
import { ACCOUNT_PATH, createSignIn, SIGN_IN_PATH } from './sign-in/signin.ts';
import { createTokens } from './sign-in/tokens.ts';
import { createUserinfo } from './sign-in/userinfo.ts';
import { createWellKnown, DISCOVERY_PATH, JWKS_PATH } from './sign-in/wellknown.ts';
import type { UsageCounter } from './usage/counter.ts';
import type { KeyUseCounter } from './usage/keyuse.ts';
import type { RequestRecorder } from './usage/recorder.ts';
import type { UsageStore } from './usage/usagestore.ts';

type GatewayParts = {
  settings: Settings;
  keyStore: KeyStore;
  counters: Counters;
  graphs: ServedGraphs;
  graphStore: GraphStore;
  documents: Documents;
  usage: UsageCounter;
  usageStore: Pick<
    UsageStore,
    'fields' | 'keyActivities' | 'fieldsOf' | 'requestHours' | 'requests'
  >;
  /** Undefined if there is no audit log. */
  audit: Audit | undefined;
  changelogs: ReadChangelogs;
  keyUse: KeyUseCounter;
  requests: RequestRecorder;
  log: Log;
  metrics: Metrics;
  caches: Caches;
  tracing?: Tracing | undefined;
};

/** All paths below belong to the registry. */
const REGISTRY_PATH = '/registry/';

export type Gateway = {
  /** Handles a request to any path. Rejects with an ApiError if too many are in progress. */
  handle(request: HttpRequest): Promise<HttpResponse>;
  /** Whether it can answer anything, and the state of its dependencies. */
  ready(): Promise<Readiness>;
};

/** The caller closes the parts. */
export function openGateway(given: GatewayParts): Gateway {
  const log = withShownAddresses(given.log, given.settings.logClientAddress);
  const parts = { ...given, log };
  const { settings, keyStore, counters, graphs, audit, changelogs, caches, metrics } = parts;
  const { environment, rateLimitBudget: keyBudget, corsOrigins, logClientAddress } = settings;
  const { own, other } = baseUrls(settings);
  const members = createMembersClient(graphs.askProvider);
  const limiter = createLimiter(counters, settings.rateLimitWindowSeconds, metrics);
  const { refusals } = limiter;
  const keyring = createKeyring({ store: keyStore, caches, metrics, refusals, log });
  const budget = createBudget(limiter);
  // Shared by both endpoints, so that its limit on introspections holds for them together.
  const isSandbox = environment === 'sandbox';
  const operate = createOperate({ ...parts, budget, isSandbox });
  const shared = { ...parts, members, budget, keyring, operate, logClientAddress };
  const offersSignIn = settings.idTokenIssuer === undefined;
  const ownTokens = createOwnTokens(members);
  const apps = offersSignIn ? ownTokens.origins : undefined;
  const memberTokens = openTokenVerifier(settings, {
    keyStore,
    ownUrl: own,
    ownTokens,
    caches,
    log,
  });
  const isSuspended = createSuspensions(keyStore, caches, log);
  const byKey = { environment, keyring, keyBudget };
  const graphql = createHandler({
    ...shared,
    authenticate: createAuthenticator({ ...byKey, tokens: memberTokens, isSuspended }),
    cors: createCors(corsOrigins, GRAPHQL_CORS, apps),
    addDeprecation: createDeprecationHeaders(own),
    loadControls: isSandbox ? () => import('./sandbox/controls.ts') : undefined,
    correctEndpoint: `${other}/graphql`,
  });
  const mcp = createMcp({
    ...shared,
    isSandbox,
    authenticate: createMcpAuthenticator(byKey),
    cors: createCors(corsOrigins, MCP_CORS),
    correctEndpoint: `${other}${MCP_PATH}`,
  });
  const visit = createVisit({ limiter, log });
  const tokens = createTokens({ members, limiter });
  const callApi = createApiClient(graphql);
  const showAccount = createShowAccount(callApi, (partnerId) => partnerName(keyStore, partnerId));
  const provider = offersSignIn ? createProvider(members, showAccount) : undefined;
  const cors = createCors(corsOrigins, PROVIDER_CORS, apps);
  const userinfo = createUserinfo(callApi, members);
  const forms = createForms(own, keyStore);
  const oauth = provider && createOauth({ provider, userinfo, limiter, cors, visit, forms, log });
  const wellKnown = createWellKnown(members, own, offersSignIn);
  const signIn = createSignIn({ tokens, provider, forms, log });
  const invitation = createInvitation({ tokens, forms, log });
  // Each is loaded with the first request that may be for one of its pages.
  const pages = once(async () =>
    (await import('./pages/pages.ts')).createPages({
      ...{ about: aboutOf(settings), settings, graphs, changelogs, log },
    }),
  );
  const consolePages = once(async () =>
    (await import('./console/console.ts')).createConsole({ ...shared, ownUrl: own, tokens, forms }),
  );
  const registry = once(async () =>
    (await import('./registry/endpoint.ts')).createRegistryEndpoint({ ...parts, limiter }),
  );
  const showPage = async (request: HttpRequest) => (await pages())(request) ?? graphql(request);

  async function askRegistry(request: HttpRequest): Promise<HttpResponse> {
    return (await registry())(request);
  }

  function handleOthers(request: HttpRequest): Promise<HttpResponse> {
    if (request.path.startsWith(REGISTRY_PATH)) return askRegistry(request);
    if (settings.console === 'on' && /^\/console(\/|$)/.test(request.path))
      return visit(request, async (visited) => (await consolePages())(visited));
    if (oauth !== undefined && request.path.startsWith(OAUTH_PATH)) return oauth(request);
    // What an app's request asks the member for.
    if (oauth !== undefined && request.path.startsWith(`${SIGN_IN_PATH}/`))
      return visit(request, signIn);
    return hasCredential(request) ? graphql(request) : visit(request, showPage);
  }

  return {
    handle(request) {
      switch (request.path) {
        case '/graphql':
          return graphql(request);
        case JWKS_PATH:
        case DISCOVERY_PATH:
          return cors.around(request, () => visit(request, wellKnown));
        case ACCOUNT_PATH:
        case `${ACCOUNT_PATH}/`:
          return offersSignIn ? visit(request, signIn) : handleOthers(request);
        case SIGN_IN_PATH:
        case `${SIGN_IN_PATH}/`:
          return visit(request, signIn);
        case INVITATION_PATH:
        case `${INVITATION_PATH}/`:
          return visit(request, invitation);
        case MCP_PATH:
        case `${MCP_PATH}/`:
          return mcp(request);
        default:
          return handleOthers(request);
      }
    },
    ready: createReadiness({
      keyStore,
      keyring,
      counters,
      audit,
      transports: () =>
        Array.from(graphs.current().connections, ([name, { transport }]) => [name, transport]),
    }),
  };
}

/** The base addresses of this environment and of the other one. */
function baseUrls({ environment, sandboxUrl, productionUrl }: Settings) {
  return environment === 'sandbox'
    ? { own: sandboxUrl, other: productionUrl }
    : { own: productionUrl, other: sandboxUrl };
}

/** What the pages show about this service. */
function aboutOf(settings: Settings): About {
  const { own, other } = baseUrls(settings);
  return {
    environment: settings.environment,
    endpoint: `${own}/graphql`,
    otherEndpoint: settings.hasOtherBaseUrl ? `${other}/graphql` : undefined,
    mcpEndpoint: `${own}${MCP_PATH}`,
    hasExplorer: settings.explorer === 'on',
    hasConsole: settings.console === 'on',
  };
}

/** The partner's name, or its ID if the name cannot be read. */
async function partnerName(keyStore: KeyStore, partnerId: string): Promise<string> {
  const partner = await keyStore.partner(partnerId).catch(() => undefined);
  return partner?.name ?? partnerId;
}
