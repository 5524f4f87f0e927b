// Opens the ID token verifier that the settings select.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { createTokenVerifier, type TokenVerifier } from './idtoken.ts';
import { createJwks } from './jwks.ts';
import type { KeyStore } from './keystore.ts';
import { createOwnTokens, type OwnProvider } from './ownprovider.ts';
import { fetchProviderKeys } from './providerkeys.ts';

export type ProviderSettings = Pick<
  Settings,
  'idTokenIssuer' | 'idTokenAudience' | 'idTokenJwksUrl' | 'idTokenMemberClaim'
>;

type Parts = {
  keyStore: Pick<KeyStore, 'partner'>;
  ownUrl: string;
  ownProvider: OwnProvider;
  caches: Caches;
  log: Pick<Log, 'outage'>;
};

/** What the largest key set, 256 KiB, takes as text and as keys while another one replaces it. */
const BYTES_OF_PROVIDER_KEYS = 4 * 1_024 * 1_024;

/**
 * A verifier of the external identity provider's tokens if one is set; otherwise of the service's
 * own, which `ownProvider` issues for `ownUrl`.
 */
export function openTokenVerifier(
  settings: ProviderSettings,
  { keyStore, ownUrl, ownProvider, caches, log }: Parts,
): TokenVerifier {
  caches.reserve(BYTES_OF_PROVIDER_KEYS);
  const { idTokenIssuer: issuer, idTokenAudience: audience, idTokenJwksUrl: jwksUrl } = settings;
  if (issuer === undefined || audience === undefined) {
    const { jwks, isCurrent } = createOwnTokens(ownProvider);
    return createTokenVerifier({
      issuer: ownUrl,
      audience: ownUrl,
      keys: jwks,
      memberClaim: 'sub',
      isPartner: () => true,
      isCurrent,
      caches,
    });
  }
  return createTokenVerifier({
    issuer,
    audience,
    keys: createJwks({
      fetchKeys: () => logged(fetchProviderKeys(issuer, jwksUrl), UNREACHABLE, log),
    }),
    memberClaim: settings.idTokenMemberClaim,
    isPartner: async (azp) =>
      (await logged(keyStore.partner(azp), 'a partner could not be read', log)) !== undefined,
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
