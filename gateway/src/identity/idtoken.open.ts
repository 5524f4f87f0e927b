// Opens the ID token verifier that the settings select.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { createTokenVerifier, type TokenVerifier } from './idtoken.ts';
import { createJwks } from './jwks.ts';
import type { KeyStore } from './keystore.ts';
import type { OwnTokens } from './ownprovider.ts';
import { fetchProviderKeys } from './providerkeys.ts';

type ProviderSettings = Pick<
  Settings,
  'idTokenIssuer' | 'idTokenAudience' | 'idTokenJwksUrl' | 'idTokenMemberClaim'
>;

type Parts = {
  keyStore: Pick<KeyStore, 'partner'>;
  ownUrl: string;
  ownTokens: OwnTokens;
  caches: Caches;
  log: Pick<Log, 'outage'>;
};

/** What the largest key set, 256 KiB, takes as text and as keys while another one replaces it. */
const BYTES_OF_PROVIDER_KEYS = 4 * 1_024 * 1_024;

/**
 * A verifier of the external identity provider's tokens if one is set; otherwise of the service's
 * own, of the issuer `ownUrl`.
 */
export function openTokenVerifier(
  settings: ProviderSettings,
  { keyStore, ownUrl, ownTokens, caches, log }: Parts,
): TokenVerifier {
  caches.reserve(BYTES_OF_PROVIDER_KEYS);
  const { idTokenIssuer: issuer, idTokenAudience: audiences, idTokenJwksUrl: jwksUrl } = settings;
  if (issuer === undefined || audiences === undefined) {
    const { jwks, isCurrent } = ownTokens;
    return createTokenVerifier({
      issuer: ownUrl,
      audiences: [ownUrl],
      keys: jwks,
      memberClaim: 'sub',
      isCurrent,
      caches,
    });
  }
  return createTokenVerifier({
    issuer,
    audiences,
    keys: createJwks({
      fetchKeys: () => logged(fetchProviderKeys(issuer, jwksUrl), UNREACHABLE, log),
    }),
    memberClaim: settings.idTokenMemberClaim,
    isPartner: async (clientId) =>
      (await logged(keyStore.partner(clientId), 'a partner could not be read', log)) !== undefined,
    caches,
  });
}

const UNREACHABLE = 'the keys of the identity provider could not be fetched';

async function logged<T>(promise: Promise<T>, message: string, log: Parts['log']): Promise<T> {
  try {
    return await promise;
  } catch (err) {
    log.outage({ err }, message);
    throw err;
  }
}
