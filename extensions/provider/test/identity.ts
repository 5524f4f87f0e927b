// Apps that sign members in, for tests of the provider, with openid-client unmodified.

import { type App, makeSecret } from '@partner-loyalty/members';
import * as client from 'openid-client';
import { BASE, type SignInStage } from '../../../subgraphs/members/test/signin.ts';
import { codeIn } from '../../../test/support/servers/mailserver.ts';
import { until } from '../../../test/support/until.ts';
import { type Answer, type Browser, forward } from './browser.ts';

export const REDIRECT = 'https://spa.example/callback';

type TestApp = { clientId: string; secret: string | undefined };

/** Registers an app of a partner, public if nothing else is said. */
export async function addApp(
  { store }: SignInStage,
  more: Partial<App> & { isConfidential?: true } = {},
): Promise<TestApp> {
  const { isConfidential, ...rest } = more;
  const { secret, hash } = makeSecret();
  const clientId = rest.clientId ?? `app_${Math.random().toString(36).slice(2)}`;
  await store.apps.add({
    clientId,
    partnerId: 'spa',
    name: 'Spa Guide',
    redirectUris: [REDIRECT],
    origins: ['https://spa.example'],
    createdAt: Date.now(),
    ...(isConfidential && { secrets: [{ hash }] }),
    ...rest,
  });
  return { clientId, secret: isConfidential && secret };
}

/** The client library, whose requests go to the provider as the gateway forwards them. */
export function configure(
  stage: SignInStage,
  { clientId, secret }: TestApp,
  authentication?: client.ClientAuth,
): client.Configuration {
  const server = {
    issuer: BASE,
    authorization_endpoint: `${BASE}/oauth/authorize`,
    token_endpoint: `${BASE}/oauth/token`,
    revocation_endpoint: `${BASE}/oauth/revoke`,
    end_session_endpoint: `${BASE}/oauth/end-session`,
    jwks_uri: `${BASE}/.well-known/jwks.json`,
    authorization_response_iss_parameter_supported: true,
  };
  const none = secret === undefined ? client.None() : undefined;
  const config = new client.Configuration(server, clientId, secret, authentication ?? none);
  config[client.customFetch] = async (url, { method, headers, body }) => {
    const { pathname: path, search } = new URL(url);
    const answer = await forward(stage, { method, path, search, headers, body: `${body ?? ''}` });
    const { 'set-cookie': _, ...others } = answer.headers;
    // Cast: a response has no cookies here.
    const init = { status: answer.status, headers: others as Record<string, string> };
    return new Response(answer.body || null, init);
  };
  return config;
}

/** What an app keeps from the beginning of an authorization to its end. */
export async function authorization(
  config: client.Configuration,
  more: Record<string, string> = {},
) {
  const checks = {
    pkceCodeVerifier: client.randomPKCECodeVerifier(),
    expectedState: client.randomState(),
    expectedNonce: client.randomNonce(),
  };
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT,
    scope: 'openid profile email offline_access',
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    ...more,
  });
  return { url: url.href, checks };
}

/** Types an address, and returns the page with the mail's text. */
export async function begin(stage: SignInStage, browser: Browser, page: Answer, email: string) {
  const before = stage.server.mails.length;
  const codePage = await browser.submit(page, { email });
  let text: string | undefined;
  await until(() => {
    const sent = stage.server.mails.slice(before);
    text = sent.find(
      ({ recipients }) => recipients[0]?.toLowerCase() === email.toLowerCase(),
    )?.text;
    return text !== undefined;
  });
  return { codePage, text, code: codeIn(text) };
}

/** Signs the browser in on the page by the mailed code. */
export async function signInByCode(
  stage: SignInStage,
  browser: Browser,
  page: Answer,
  email = 'ada@example.com',
): Promise<Answer> {
  const { codePage, code } = await begin(stage, browser, page, email);
  return browser.submit(codePage, { code });
}

/** Signs in, agrees, and returns what the app gets. */
export async function authorize(
  stage: SignInStage,
  browser: Browser,
  config: client.Configuration,
) {
  const { url, checks } = await authorization(config);
  let answer = await browser.open(url);
  if (answer.page?.name === 'address') answer = await signInByCode(stage, browser, answer);
  if (answer.page?.name === 'consent') answer = await browser.submit(answer, { agree: 'yes' });
  const callback = new URL(answer.location ?? 'none:');
  return {
    callback,
    checks,
    tokens: await client.authorizationCodeGrant(config, callback, checks),
  };
}
