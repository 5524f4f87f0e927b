// The caller's key or token: from the form or the address, kept only in this tab.

/** `kind` is also the surface that it opens. */
export type Credential = { kind: 'partner' | 'member'; secret: string };

const STORED = 'credential';

/** Understands `Bearer …` too. Undefined for what no header can carry. */
export function credentialFrom(text: string): Credential | undefined {
  const secret = text.trim().replace(/^bearer\s+/i, '');
  if (!/^[!-~]+$/.test(secret)) return undefined;
  return { kind: /^[\w-]+\.[\w-]+\.[\w-]+$/.test(secret) ? 'member' : 'partner', secret };
}

/** The one in the address, which is removed at once. */
export function linkedCredential(): Credential | undefined {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get('key') ?? fragment.get('token');
  if (given === null) return undefined;
  history.replaceState(null, '', location.pathname);
  return credentialFrom(given);
}

export function keptCredential(): Credential | undefined {
  return credentialFrom(sessionStorage.getItem(STORED) ?? '');
}

/** sessionStorage ends with the tab, and no other tab can read it. */
export function keep({ secret }: Credential): void {
  sessionStorage.setItem(STORED, secret);
}

export function forget(): void {
  sessionStorage.removeItem(STORED);
}

/** Whether it is a key of /mcp, which /graphql refuses as it refuses an unknown one. */
export function isMcpKey({ kind, secret }: Credential): boolean {
  return kind === 'partner' && secret.startsWith('mk_');
}

export function credentialHeader({ kind, secret }: Credential): Record<string, string> {
  return kind === 'partner'
    ? { 'x-partner-api-key': secret }
    : { authorization: `Bearer ${secret}` };
}

/** The member that a token is for, if the token says so in the claim. */
export function memberOf({ kind, secret }: Credential, claim: string): string | undefined {
  if (kind === 'partner') return undefined;
  try {
    const [, payload = ''] = secret.split('.');
    const bytes = Uint8Array.from(
      atob(payload.replaceAll('-', '+').replaceAll('_', '/')),
      (character) => character.charCodeAt(0),
    );
    const id: unknown = JSON.parse(new TextDecoder().decode(bytes))[claim];
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}
