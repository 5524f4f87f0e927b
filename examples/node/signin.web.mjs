// Signs members in to a web app with Express: see ../../docs/callers/guides/sign-in-web.md.
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import express from 'express';
import session from 'express-session';
import * as client from 'openid-client';

const { CLIENT_ID, CLIENT_SECRET, SESSION_SECRET, PORT = '4040' } = process.env;
const ISSUER = process.env.PARTNER_LOYALTY_ISSUER ?? 'http://localhost:4000';
/** Where browsers find this app. */
const HOME = process.env.HOME_URL ?? `http://localhost:${PORT}/`;
const CALLBACK = new URL('callback', HOME).href;
if (!CLIENT_ID || !CLIENT_SECRET)
  throw new Error('set CLIENT_ID and CLIENT_SECRET to those of your app');

const provider = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, {
  // The library refuses plain http unless told: this is for a sandbox on your machine.
  execute: ISSUER.startsWith('http:') ? [client.allowInsecureRequests] : [],
});

/** Tokens by session ID. In yours, a table. They never reach the browser. */
const held = new Map();
const app = express();
app.use(
  session({
    name: 'rooms', // Not `session`: on localhost, programs on all ports share their cookies.
    secret: SESSION_SECRET ?? randomBytes(32).toString('hex'),
    resave: false,
    saveUninitialized: false,
    cookie: { sameSite: 'lax', secure: HOME.startsWith('https:') },
  }),
);

app.get('/sign-in', async (request, response) => {
  const checks = {
    pkceCodeVerifier: client.randomPKCECodeVerifier(),
    expectedState: client.randomState(),
    expectedNonce: client.randomNonce(),
  };
  request.session.checks = checks;
  const url = client.buildAuthorizationUrl(provider, {
    redirect_uri: CALLBACK,
    scope: 'openid profile email',
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
  });
  response.redirect(url.href);
});

app.get('/callback', async (request, response) => {
  const { checks } = request.session;
  // The member went back to this page, or pressed Cancel.
  if (checks === undefined || request.query.error === 'access_denied')
    return response.redirect('/');
  delete request.session.checks;
  const url = new URL(request.originalUrl, HOME);
  const tokens = await client.authorizationCodeGrant(provider, url, checks);
  // A new ID: whoever knew the one before is not signed in with the member.
  await promisify(request.session.regenerate.bind(request.session))();
  request.session.memberId = tokens.claims().sub;
  held.set(request.session.id, withExpiry(tokens));
  response.redirect('/');
});

const withExpiry = (tokens) => ({ ...tokens, expiresAt: Date.now() + tokens.expires_in * 1_000 });

/** The member has to sign in again. */
class SignedOut extends Error {}

/** An access token that is valid for 30 seconds or longer. */
async function accessToken(sessionId) {
  const tokens = held.get(sessionId);
  if (tokens === undefined) throw new SignedOut();
  if (tokens.expiresAt - Date.now() > 30_000) return tokens.access_token;
  // A refresh token works once, and its second use ends the sign-in: requests share one refresh.
  tokens.refreshing ??= refresh(sessionId, tokens).finally(() => delete tokens.refreshing);
  return (await tokens.refreshing).access_token;
}

async function refresh(sessionId, tokens) {
  try {
    const fresh = await client.refreshTokenGrant(provider, tokens.refresh_token);
    const kept = withExpiry({ ...tokens, ...fresh });
    // Not if the member has signed out meanwhile.
    if (held.has(sessionId)) held.set(sessionId, kept);
    return kept;
  } catch (error) {
    // Any other error may pass: the tokens stay.
    throw error.error === 'invalid_grant' ? new SignedOut() : error;
  }
}

const PROFILE = `query ($id: ID!) { memberProfile(id: $id) {
  email firstName partnerStandings { partnerId tier points } } }`;

async function readProfile({ id, memberId }) {
  const response = await fetch(`${ISSUER}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${await accessToken(id)}`,
    },
    body: JSON.stringify({ query: PROFILE, variables: { id: memberId } }),
    redirect: 'error', // The token goes nowhere else.
    signal: AbortSignal.timeout(10_000),
  });
  // Ended elsewhere: by the member at /account, or by an operator.
  if (response.status === 401) throw new SignedOut();
  const { data, errors } = await response.json();
  if (errors) throw new Error(`${errors[0].extensions.code}: ${errors[0].message}`);
  return data.memberProfile;
}

app.get('/', async (request, response) => {
  const { id, memberId } = request.session;
  if (memberId === undefined) return response.send('<a href="/sign-in">Sign in</a>');
  const { email, firstName, partnerStandings } = await readProfile({ id, memberId });
  const lines = partnerStandings.map(
    ({ tier, points }) => `<p>${safe(tier)}, ${points} points</p>`,
  );
  response.send(`<h1>Hello ${safe(firstName ?? email)}</h1>${lines.join('')}
    <form method="post" action="/sign-out"><button>Sign out</button></form>`);
});

app.post('/sign-out', async (request, response) => {
  const { id_token } = held.get(request.session.id) ?? {};
  held.delete(request.session.id);
  await promisify(request.session.destroy.bind(request.session))();
  const end = { post_logout_redirect_uri: HOME, ...(id_token && { id_token_hint: id_token }) };
  response.redirect(303, client.buildEndSessionUrl(provider, end).href);
});

app.use(async (error, request, response, next) => {
  if (response.headersSent) return next(error);
  if (error instanceof SignedOut) {
    held.delete(request.session.id);
    await promisify(request.session.destroy.bind(request.session))();
    return response.redirect('/');
  }
  console.error(error.error ?? error.code, error.message);
  response.status(502).send('<p>That did not work.</p><a href="/">Try again</a>');
});

function safe(text) {
  return text.replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);
}

app.listen(Number(PORT), 'localhost', () => console.log(`the app: ${HOME}`));
