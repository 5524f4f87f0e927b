// Signs a member in to a program on their device: see ../../docs/callers/guides/sign-in-mobile.md.
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import * as client from 'openid-client';

const { CLIENT_ID, TOKEN_FILE = 'refresh-token' } = process.env;
const ISSUER = process.env.PARTNER_LOYALTY_ISSUER ?? 'http://localhost:4000';
if (!CLIENT_ID) throw new Error('set CLIENT_ID to the client ID of your app');

// A public app: nothing in a program that others can download is secret.
const provider = await client.discovery(new URL(ISSUER), CLIENT_ID, undefined, client.None(), {
  // The library refuses plain http unless told: this is for a sandbox on your machine.
  execute: ISSUER.startsWith('http:') ? [client.allowInsecureRequests] : [],
});

/** Resolves with new tokens after the member has signed in with the browser. */
async function signIn() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const callback = `http://127.0.0.1:${server.address().port}/callback`;
  const checks = {
    pkceCodeVerifier: client.randomPKCECodeVerifier(),
    expectedState: client.randomState(),
    expectedNonce: client.randomNonce(),
  };
  const url = client.buildAuthorizationUrl(provider, {
    redirect_uri: callback,
    scope: 'openid profile email',
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
  });
  console.log(`Open in your browser: ${url.href}`);
  try {
    const back = await returned(server, callback, checks.expectedState);
    return await client.authorizationCodeGrant(provider, back, checks);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** The URL with which the browser comes back. Any program can call the port, so others pass by. */
function returned(server, callback, state) {
  return new Promise((resolve) => {
    server.on('request', (request, response) => {
      const url = new URL(request.url, callback);
      const isIt = url.pathname === '/callback' && url.searchParams.get('state') === state;
      response.writeHead(isIt ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' });
      response.end(isIt ? 'You can close this page.' : 'not found', () => isIt && resolve(url));
    });
  });
}

/** On a phone: the keychain of iOS, or storage that a key of the Android Keystore encrypts. */
const store = {
  read: () => (existsSync(TOKEN_FILE) ? readFileSync(TOKEN_FILE, 'utf8') : undefined),
  write: (refreshToken) => writeFileSync(TOKEN_FILE, refreshToken, { mode: 0o600 }),
  remove: () => rmSync(TOKEN_FILE, { force: true }),
};

/** Tokens without the member's help; undefined if the member has to sign in. */
async function refresh() {
  const refreshToken = store.read();
  if (refreshToken === undefined) return undefined;
  try {
    return await client.refreshTokenGrant(provider, refreshToken);
  } catch (error) {
    if (error.error !== 'invalid_grant') throw error; // It may pass: the token stays.
    store.remove();
    return undefined;
  }
}

const PROFILE = `query ($id: ID!) { memberProfile(id: $id) {
  email firstName partnerStandings { partnerId tier points } } }`;

async function readProfile(tokens) {
  const response = await fetch(`${ISSUER}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${tokens.access_token}`,
    },
    body: JSON.stringify({ query: PROFILE, variables: { id: tokens.claims().sub } }),
    redirect: 'error', // The token goes nowhere else.
    signal: AbortSignal.timeout(10_000),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(`${errors[0].extensions.code}: ${errors[0].message}`);
  return data.memberProfile;
}

if (process.argv[2] === 'sign-out') {
  const refreshToken = store.read();
  if (refreshToken !== undefined) await client.tokenRevocation(provider, refreshToken);
  store.remove();
  console.log('Signed out.');
} else {
  const tokens = (await refresh()) ?? (await signIn());
  // Before anything else: the one before does not work any more.
  store.write(tokens.refresh_token);
  console.log(JSON.stringify(await readProfile(tokens), null, 2));
}
