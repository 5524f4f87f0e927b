// The gateway as one handler of plain requests: everything behind the port, built from its parts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  HttpReply,
  HttpRequest,
  Log,
  Metrics,
  Settings,
  Transport,
} from '@partner-loyalty/runtime';
import { createHandler } from './handle.ts';
import { createCors } from './http/cors.ts';
import { createAuthenticate } from './identity/authenticate.ts';
import { createTokenVerifier, type TokenVerifier } from './identity/idtoken.ts';
import { createJwks, fetchProviderKeys } from './identity/jwks.ts';
import { createKeyring } from './identity/keyring.ts';
import type { KeyStore } from './identity/keystore.ts';
import type { Counters } from './limits/counters.ts';
import { createLimiter } from './limits/limiter.ts';
import { createProvider, type Provider } from './signin/provider.ts';
import { createSignIn, SIGN_IN_PATH } from './signin/signin.ts';
import { createWellKnown, DISCOVERY_PATH, JWKS_PATH } from './signin/wellknown.ts';
import { openSurface } from './surface/surface.ts';

/** The composed graph with its tags, as `loyalty supergraph compose` writes it. */
export const SUPERGRAPH_FILE = join(import.meta.dirname, '../supergraph.graphql');

export type GatewayParts = {
  settings: Settings;
  keyStore: KeyStore;
  counters: Counters;
  /** One for each subgraph of the supergraph. */
  transports: { members: Transport; standings: Transport };
  log: Log;
  metrics: Metrics;
};

export type Gateway = {
  /** Answers a request on any path; never rejects. */
  handle(request: HttpRequest): Promise<HttpReply>;
  /** Resolves when the key store and every subgraph answer; rejects otherwise. */
  ready(): Promise<void>;
};

/** Builds the gateway from parts that stay the caller's to close. Throws where the committed supergraph does not fit. */
export function openGateway(parts: GatewayParts): Gateway {
  const { settings, keyStore, counters, transports, log, metrics } = parts;
  const { environment, sandboxUrl, productionUrl } = settings;
  const [ownUrl, otherUrl] =
    environment === 'sandbox' ? [sandboxUrl, productionUrl] : [productionUrl, sandboxUrl];
  const supergraph = readFileSync(SUPERGRAPH_FILE, 'utf8');
  const surfaces = {
    partner: openSurface('partner', supergraph, transports),
    member: openSurface('member', supergraph, transports),
  };
  const provider = createProvider(transports.members);
  const limiter = createLimiter(counters, settings.rateLimitWindowSeconds, metrics);
  const tokens = tokenVerifier(settings, provider, keyStore, ownUrl);
  const authenticate = createAuthenticate({
    environment,
    keyring: createKeyring({ store: keyStore, metrics }),
    tokens,
    keyBudget: settings.rateLimitBudget,
  });
  const cors = createCors(settings.corsOrigins);
  const graphql = createHandler({
    authenticate,
    limiter,
    surfaces,
    cors,
    correctEndpoint: `${otherUrl}/graphql`,
    log,
    metrics,
  });
  const wellKnown = createWellKnown(provider, ownUrl);
  // Where it cannot be had, the id has to do.
  const partnerName = async (partnerId: string) => {
    const partner = await keyStore.partner(partnerId).catch(() => undefined);
    return partner?.name ?? partnerId;
  };
  const signIn = createSignIn({
    provider,
    signsIn: settings.idTokenIssuer === undefined,
    partnerName,
    graphql,
    limiter,
    log,
  });

  return {
    async handle(request) {
      switch (request.path) {
        case JWKS_PATH:
        case DISCOVERY_PATH:
          return wellKnown(request);
        case SIGN_IN_PATH:
          return signIn(request);
        default:
          return graphql(request);
      }
    },
    async ready() {
      await Promise.all([
        keyStore.ready(),
        ...Object.values(transports).map((transport) => transport.ready()),
      ]);
    },
  };
}

// An external identity provider where one is configured, else the service's own.
function tokenVerifier(
  settings: Settings,
  provider: Pick<Provider, 'signingKeys'>,
  keyStore: KeyStore,
  ownUrl: string,
): TokenVerifier {
  const {
    idTokenIssuer,
    idTokenAudience,
    idTokenJwksUrl,
    idTokenMemberClaim: memberClaim,
  } = settings;
  if (idTokenIssuer === undefined || idTokenAudience === undefined) {
    const keys = createJwks({ fetchKeys: () => provider.signingKeys() });
    return createTokenVerifier({
      issuer: ownUrl,
      audience: ownUrl,
      keys,
      memberClaim: 'sub',
      isPartner: () => true,
    });
  }
  const keys = createJwks({ fetchKeys: () => fetchProviderKeys(idTokenIssuer, idTokenJwksUrl) });
  const isPartner = async (azp: string) => (await keyStore.partner(azp)) !== undefined;
  return createTokenVerifier({
    issuer: idTokenIssuer,
    audience: idTokenAudience,
    keys,
    memberClaim,
    isPartner,
  });
}
