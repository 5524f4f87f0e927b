// Apps with a server, with openid-client and its strategy for Passport: from discovery to sign-out.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type App, makeSecret } from '@partner-loyalty/members';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import express from 'express';
// @ts-expect-error: the package brings no types.
import session from 'express-session';
import * as client from 'openid-client';
import { Strategy } from 'openid-client/passport';
// @ts-expect-error: the package brings no types.
import passport from 'passport';
import { createIdentity } from '../../extensions/provider/src/members/handle.ts';
import { codeIn } from '../support/servers/mailserver.ts';
import { freePort } from '../support/servers/process.ts';
import { createVisitor, type Visited, type Visitor } from '../support/servers/visitor.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { BUILT_IN, newMember, nextEmail } from '../support/service/mailbox.ts';

const CALLBACK = 'http://app.localhost:1/callback';

describe('an app', () => {
  let service: InProcessService;
  let issuer: string;
  beforeAll(async () => {
    const port = await freePort();
    issuer = `http://127.0.0.1:${port}`;
    const env = { ...BUILT_IN, PORT: `${port}`, SANDBOX_URL: issuer };
    service = await startInProcess({ env });
  });
  afterAll(() => service?.close());

  let made = 0;
  const register = async (app: Partial<App> = {}) => {
    made += 1;
    const clientId = `app-${made}`;
    const { secret, hash } = makeSecret();
    await service.stores.members.apps.add({
      clientId,
      partnerId: 'alpha',
      name: 'Alpha Rooms',
      redirectUris: [CALLBACK],
      origins: [],
      secrets: [{ hash }],
      createdAt: Date.now(),
      ...app,
    });
    const method = 'secrets' in app ? client.None() : client.ClientSecretPost(secret);
    const config = await client.discovery(new URL(issuer), clientId, undefined, method, {
      execute: [client.allowInsecureRequests],
    });
    return { clientId, config };
  };
  /** From the page for the address to the one after the code. */
  const prove = async (visitor: Visitor, page: Visited, email: string): Promise<Visited> => {
    let typed: Visited | undefined;
    const mail = await nextEmail(service, email, async () => {
      typed = await visitor.send(page, { email });
    });
    if (typed === undefined) throw new Error('no page');
    return visitor.send(typed, { code: codeIn(mail) });
  };
  /** Opens the request of an app; `tokens` takes what the app then gets. */
  const authorize = async (visitor: Visitor, config: client.Configuration, asked: object) => {
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const start = client.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      ...asked,
    });
    const tokens = ({ url }: Visited) =>
      client.authorizationCodeGrant(config, new URL(url), { pkceCodeVerifier });
    return { page: await visitor.visit(start.href), tokens };
  };
  /** From the page for the address to where the app is. */
  const signIn = async (visitor: Visitor, page: Visited, email: string): Promise<Visited> => {
    const next = await prove(visitor, page, email);
    if (!next.html.includes('name="agree"')) return next;
    const back = await visitor.send(next, {}, 'agree');
    // A button that is pressed twice leads to the app with the same code.
    if (back.url.startsWith(CALLBACK))
      expect((await visitor.send(next, {}, 'agree')).url).toBe(back.url);
    return back;
  };

  test('an app sees what the member agreed to, and its partner only after a click, until it is revoked', async () => {
    const { members } = service.stores;
    const email = 'few@example.com';
    const address = { typed: email, canonical: email };
    const enrolled = await members.enroll({ partnerId: 'alpha', address });
    if (enrolled.outcome !== 'enrolled') throw new Error(enrolled.outcome);
    const { memberId } = enrolled.member;
    await members.updateOwnNames(memberId, { firstName: 'Ada', lastName: 'Byron' });
    // Stored by a version that did not check names.
    const { config } = await register({ name: 'Alpha\u202e \u200bRooms' });
    const visitor = createVisitor((url) => url.startsWith(CALLBACK));
    const seenByKey = async () => {
      const query = 'query ($id: ID!) { memberById(memberId: $id) { firstName lastName } }';
      const { body } = await service.send({ query, variables: { id: memberId } });
      return body.data?.memberById;
    };
    const [names, none] = [
      { firstName: 'Ada', lastName: 'Byron' },
      { firstName: null, lastName: null },
    ];
    const itself = '<bdi>alpha</bdi> itself can then see your name';

    const first = await authorize(visitor, config, { scope: 'openid' });
    const consent = await prove(visitor, first.page, email);
    expect(consent.html).toContain('<p>“<bdi>Alpha Rooms</bdi>” belongs to <bdi>alpha</bdi>.');
    expect(consent.html).not.toMatch(/[\u200b\u202e]/);
    expect(consent.html).not.toContain(itself);
    const few = await first.tokens(await visitor.send(consent, {}, 'agree'));
    const silent = await authorize(visitor, config, { scope: 'openid', prompt: 'none' });
    const later = await silent.tokens(silent.page);
    for (const token of [few.access_token, few.id_token, later.access_token]) {
      const read = (fields: string) =>
        service.send({
          query: `query ($id: ID!) { memberProfile(id: $id) { ${fields} } }`,
          variables: { id: memberId },
          token,
        });
      const shown = await read('firstName lastName partnerStandings { partnerId }');
      const partnerStandings = [{ partnerId: 'alpha' }];
      expect(shown.body).toEqual({ data: { memberProfile: { ...none, partnerStandings } } });
      expect((await read('firstName email')).body).toMatchObject({
        data: { memberProfile: null },
        errors: [
          {
            message: 'the token lacks the scope email',
            path: ['memberProfile', 'email'],
            extensions: { code: 'FORBIDDEN' },
          },
        ],
      });
    }
    expect(await seenByKey()).toEqual(none);

    const more = await authorize(visitor, config, { scope: 'openid profile' });
    expect(more.page.html).toContain(itself);
    const profile = await more.tokens(await visitor.send(more.page, {}, 'agree'));
    expect(await seenByKey()).toEqual(names);
    await client.tokenRevocation(config, profile.refresh_token ?? '');
    expect(await seenByKey()).toEqual(names);
    const account = await visitor.visit(`${issuer}/account`);
    expect((await visitor.send(account, {}, 'revoke')).status).toBe(200);
    expect(await seenByKey()).toEqual(none);
  });

  test.each([
    ['sign-out', 'a partner’s app', undefined],
    ['tokens revoke', 'a partner’s app', undefined],
    ['revoking it', 'a partner’s app', undefined],
    ['sign-out', 'a first-party app', true as const],
    ['tokens revoke', 'a first-party app', true as const],
  ])(
    'attack: no silent authorization in progress survives %s: %s',
    async (ending, _, isFirstParty) => {
      const { access } = service.stores.members;
      const { memberId, email } = await newMember(service);
      const { config } = await register({ isFirstParty });
      const visitor = createVisitor((url) => url.startsWith(CALLBACK));
      const asked = { scope: 'openid' };
      await signIn(visitor, (await authorize(visitor, config, asked)).page, email);
      const { sessions } = (await access.find(memberId)) ?? {};
      const account = await visitor.visit(`${issuer}/account`);
      const { grant } = access;
      access.grant = async (...given) => {
        access.grant = grant;
        if (ending === 'tokens revoke') await access.endAll(memberId);
        else if (ending === 'revoking it') await visitor.send(account, {}, 'revoke');
        else await access.endSession(memberId, sessions?.[0]?.sessionId ?? '');
        return grant(...given);
      };
      const { page } = await authorize(visitor, config, { ...asked, prompt: 'none' });
      expect(new URL(page.url).searchParams.get('error')).toMatch(/_required$/);
      const { apps = [] } = (await access.find(memberId)) ?? {};
      expect(apps.flatMap(({ grants }) => grants)).toEqual([]);
    },
  );

  test('the configuration says what the library behind it does', async () => {
    const identity = createIdentity({
      store: service.stores.members,
      issuer,
      log: createLog('silent'),
      metrics: createMetrics(),
      inbox: undefined,
      enqueueMail: async () => ({ accepted: true as const }),
      wake() {},
    });
    const asked = {
      method: 'GET',
      path: '/.well-known/openid-configuration',
      search: '',
      body: '',
    };
    const request = { ...asked, headers: {}, clientAddress: '192.0.2.1', language: 'en' };
    const { body = '' } = await identity(request);
    // Apps have no other mode, and lists have no order.
    const own = { response_modes_supported: ['query'], claim_types_supported: undefined };
    const sorted = (document: object) =>
      Object.fromEntries(
        Object.entries(document).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.toSorted() : value,
        ]),
      );
    const served = Object(await (await fetch(`${issuer}/.well-known/openid-configuration`)).json());
    expect(sorted(served)).toEqual(
      sorted({
        ...JSON.parse(body),
        ...own,
        userinfo_endpoint: `${issuer}/oauth/userinfo`,
        revocation_endpoint_auth_methods_supported: [
          ...['client_secret_basic', 'client_secret_post', 'none'],
        ],
      }),
    );
  });

  test('the strategy for Passport signs a member in to an app of Express, again without a question', async () => {
    const { memberId, email } = await newMember(service);
    const app = express();
    const server: Server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // Cast: a server that listens on a port has an address with a port.
    const home = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { config } = await register({ redirectUris: [`${home}/callback`] });
    const strategy = new Strategy(
      { config, scope: 'openid email', callbackURL: `${home}/callback`, name: 'loyalty' },
      (tokens, done) => done(null, { id: tokens.claims()?.sub }),
    );
    passport.use(strategy);
    passport.serializeUser((user: object, done: (error: null, user: object) => void) =>
      done(null, user),
    );
    passport.deserializeUser((user: object, done: (error: null, user: object) => void) =>
      done(null, user),
    );
    app.use(session({ secret: 'of the test', resave: false, saveUninitialized: false }));
    app.use(passport.authenticate('session'));
    app.get('/login', passport.authenticate('loyalty'));
    app.get('/callback', passport.authenticate('loyalty', { successRedirect: '/' }));
    app.get('/', (request, response) => {
      response.json('user' in request ? request.user : null);
    });
    const visitor = createVisitor();
    const page = await visitor.visit(`${home}/login`);
    expect((await signIn(visitor, page, email)).html).toBe(JSON.stringify({ id: memberId }));
    const again = await visitor.visit(`${home}/login`);
    expect([again.url, again.html]).toEqual([`${home}/`, JSON.stringify({ id: memberId })]);
    server.closeAllConnections();
    server.close();
  });
});
