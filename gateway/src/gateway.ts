// The gateway as one handler of plain requests, built from its parts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  Caches,
  HttpReply,
  HttpRequest,
  Log,
  Metrics,
  Readiness,
  Settings,
  Transport,
} from '@partner-loyalty/runtime';
import { createHandler } from './handle.ts';
import { createCors } from './http/cors.ts';
import { createAuthenticator } from './identity/authenticate.ts';
import { openTokenVerifier } from './identity/idtoken.open.ts';
import { createKeyring, type Keyring } from './identity/keyring.ts';
import type { KeyStore } from './identity/keystore.ts';
import type { Counters } from './limits/counters.ts';
import { createLimiter, type Limiter } from './limits/limiter.ts';
import { createReadiness } from './readiness.ts';
import { createInvitation, INVITATION_PATH } from './signin/invitation.ts';
import { createMembersClient, type MembersClient } from './signin/membersclient.ts';
import { createSignIn, SIGN_IN_PATH } from './signin/signin.ts';
import { createWellKnown, DISCOVERY_PATH, JWKS_PATH } from './signin/wellknown.ts';
import { openSurface } from './surface/surface.ts';

/** The composed graph with its tags, as `loyalty supergraph compose` writes it. */
export const SUPERGRAPH_FILE = join(import.meta.dirname, '../supergraph.graphql');

/** One for each subgraph of the supergraph, by name. The gateway itself only calls members. */
export type Transports = Readonly<Record<string, Transport>> & { members: Transport };

export type GatewayParts = {
  settings: Settings;
  keyStore: KeyStore;
  counters: Counters;
  transports: Transports;
  log: Log;
  metrics: Metrics;
  caches: Caches;
};

export type Gateway = {
  /** Handles a request to any path; never rejects. */
  handle(request: HttpRequest): Promise<HttpReply>;
  /** Whether it can answer anything, and the state of its dependencies. */
  ready(): Promise<Readiness>;
};

type Handle = Gateway['handle'];

/** The caller closes the parts. Throws if the supergraph names a subgraph without a transport. */
export function openGateway(parts: GatewayParts): Gateway {
  const { settings, keyStore, counters, transports, metrics, caches } = parts;
  const members = createMembersClient(transports.members);
  const limiter = createLimiter(counters, settings.rateLimitWindowSeconds, metrics);
  const keyring = createKeyring({ store: keyStore, caches, metrics });
  const graphql = createGraphql(parts, { members, limiter, keyring });
  const wellKnown = createWellKnown(members, baseUrls(settings).own);
  const signIn = createSignIn({
    members,
    offersSignIn: settings.idTokenIssuer === undefined,
    partnerName: (partnerId) => partnerName(keyStore, partnerId),
    graphql,
    limiter,
    log: parts.log,
  });
  const invitation = createInvitation({ members, limiter, log: parts.log });

  return {
    async handle(request) {
      switch (request.path) {
        case JWKS_PATH:
        case DISCOVERY_PATH:
          return wellKnown(request);
        case SIGN_IN_PATH:
          return signIn(request);
        case INVITATION_PATH:
          return invitation(request);
        default:
          return graphql(request);
      }
    },
    ready: createReadiness({ keyStore, keyring, transports, counters }),
  };
}

function createGraphql(
  parts: GatewayParts,
  { members, limiter, keyring }: { members: MembersClient; limiter: Limiter; keyring: Keyring },
): Handle {
  const { settings, keyStore, transports, log, metrics, caches } = parts;
  const { own, other } = baseUrls(settings);
  const supergraph = readFileSync(SUPERGRAPH_FILE, 'utf8');
  return createHandler({
    authenticate: createAuthenticator({
      environment: settings.environment,
      keyring,
      tokens: openTokenVerifier(settings, { keyStore, ownUrl: own, ownProvider: members, caches }),
      keyBudget: settings.rateLimitBudget,
    }),
    limiter,
    surfaces: {
      partner: openSurface('partner', supergraph, transports, caches),
      member: openSurface('member', supergraph, transports, caches),
    },
    cors: createCors(settings.corsOrigins),
    correctEndpoint: `${other}/graphql`,
    log,
    metrics,
    caches,
  });
}

/** The base addresses of this environment and of the other one. */
function baseUrls({ environment, sandboxUrl, productionUrl }: Settings) {
  return environment === 'sandbox'
    ? { own: sandboxUrl, other: productionUrl }
    : { own: productionUrl, other: sandboxUrl };
}

/** The partner's name, or its ID if the name cannot be read. */
async function partnerName(keyStore: KeyStore, partnerId: string): Promise<string> {
  const partner = await keyStore.partner(partnerId).catch(() => undefined);
  return partner?.name ?? partnerId;
}
