// The redirect URIs of apps: which may be registered, and which requested URIs match one.

const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\])(:\d{1,5})?(?=[/?]|$)/;
/** A private-use scheme is a reversed domain name (RFC 8252, section 7.1). */
const PRIVATE_SCHEME = /^[a-z][a-z0-9+-]*\.[a-z0-9+.-]*:/;

/** Whether it leads to a program on the member's device, which any other may claim to be. */
export function isOnDevice(uri: string): boolean {
  return LOOPBACK.test(uri) || PRIVATE_SCHEME.test(uri);
}

/** What is wrong with URIs to register; undefined if nothing is. */
export function redirectsFault(
  uris: readonly string[],
  app: { isPublic: boolean; isProduction: boolean },
): string | undefined {
  const faults = uris.map((uri) => redirectFault(uri, app));
  const at = faults.findIndex((one) => one !== undefined);
  const fault = faults[at] && uris.length > 1 ? `${faults[at]} (see number ${at + 1})` : faults[at];
  const isMixed =
    uris.some(isOnDevice) && uris.some((uri) => /^http:/.test(uri) && !isOnDevice(uri));
  if (fault !== undefined || !isMixed) return fault;
  return 'must not be http elsewhere if another one is on the device';
}

function redirectFault(
  uri: string,
  { isPublic, isProduction }: { isPublic: boolean; isProduction: boolean },
): string | undefined {
  if (!URL.canParse(uri) || /[^\x21-\x7e]/.test(uri)) return 'must be a URI';
  const url = new URL(uri);
  if (uri.includes('#')) return 'must not have a fragment';
  if (uri.includes('*')) return 'must not have a wildcard: it has to match exactly';
  // Readers differ about others: `https:a.example/`, or a backslash before an @.
  if (uri !== url.href && `${uri}/` !== url.href) return `must be written as ${url.href}`;
  if (url.username !== '' || url.password !== '') return 'must not have a user name or a password';
  if (url.protocol === 'https:') return undefined;
  if (PRIVATE_SCHEME.test(uri)) return undefined;
  if (LOOPBACK.test(uri) && isPublic) return undefined;
  if (url.protocol !== 'http:')
    return 'must be https, or have a scheme with a dot, such as com.example.app';
  return isProduction
    ? 'must be https: http is for public apps on 127.0.0.1 or [::1] alone'
    : undefined;
}

/**
 * Whether a requested URI is a registered one, exactly; on the loopback of a public app's device,
 * any port matches (RFC 8252, section 7.3).
 */
export function isRegistered(uri: string, registered: readonly string[], isPublic: boolean) {
  if (registered.includes(uri)) return true;
  const anyPort = (one: string) => one.replace(LOOPBACK, 'http://$1');
  if (!isPublic || !LOOPBACK.test(uri) || !URL.canParse(uri)) return false;
  return registered.map(anyPort).includes(anyPort(uri));
}

/** Where a form may lead on to, for the policy of the page. */
export function originOf(uri = ''): string[] {
  return [/^https?:/.test(uri) ? new URL(uri).origin : new URL(uri).protocol];
}
