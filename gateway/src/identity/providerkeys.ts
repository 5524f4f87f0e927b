// Fetches an external identity provider's public keys (OpenID Connect Discovery 1.0, section 4).
import { isJsonObject } from '@partner-loyalty/runtime/input.ts';
import type { JSONWebKeySet } from 'jose';

const DEADLINE_MS = 2_000;
const MAX_BYTES = 256 * 1_024;

/**
 * The keys at `jwksUrl`, or at the address in the issuer's discovery document. Rejects if a
 * document takes over 2 seconds, is over 256 KiB, is redirected or is malformed, and if the
 * discovery document names another issuer.
 */
export async function fetchProviderKeys(issuer: string, jwksUrl?: string): Promise<JSONWebKeySet> {
  const { keys } = await fetchJson(jwksUrl ?? (await discoverJwksUrl(issuer)));
  if (!Array.isArray(keys)) throw new Error('the identity provider sent no key set');
  return { keys };
}

async function discoverJwksUrl(issuer: string): Promise<string> {
  const document = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const url = typeof document.jwks_uri === 'string' ? document.jwks_uri : '';
  const isDowngrade = issuer.startsWith('https:') && !url.startsWith('https:');
  if (document.issuer !== issuer || url === '' || isDowngrade)
    throw new Error('the discovery document is not usable');
  return url;
}

async function fetchJson(url: string): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    redirect: 'error',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  const text = await readText(response);
  const document: unknown = response.status === 200 ? JSON.parse(text) : undefined;
  if (!isJsonObject(document))
    throw new Error(`the identity provider sent ${response.status} without a JSON object`);
  return document;
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('the response of the identity provider is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
