// Sign-ins while processes stop and start, and gateways take turns, between any two requests.
import { createHash } from 'node:crypto';
import { type App, makeSecret } from '@partner-loyalty/members';
import { decodeJwt } from 'jose';
import { codeIn } from '../support/servers/mailserver.ts';
import { createVisitor, type Visited, type Visitor } from '../support/servers/visitor.ts';
import { type ApiRequest, createClient } from '../support/service/client.ts';
import { mailIn } from '../support/service/inprocess.ts';
import { BUILT_IN, newMember, nextEmail } from '../support/service/mailbox.ts';
import { type DeployedService, type Running, startDeployed } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

/** Where clients find the service, as behind a load balancer. */
const ISSUER = 'http://127.0.0.1:1';
const CALLBACK = 'http://app.localhost:1/callback';
const PROFILE = 'query ($id: ID!) { memberProfile(id: $id) { email } }';
/** For a machine with much else to do: each flow starts up to 60 processes. */
const PATIENCE_MS = 600_000;
const VERIFIER = 'v'.repeat(43);

type Tokens = { access_token: string; refresh_token: string; id_token: string };
type Registered = Pick<App, 'clientId'> & { secret: string };

describe('three processes on MongoDB and Redis', () => {
  let service: DeployedService;
  let members: Running | undefined;
  /** The one that served the last request, and the one for the next request. */
  let gateways: [Running, Running];
  let restarting: Promise<unknown>;
  let restarts: boolean;
  beforeAll(async () => {
    service = await startDeployed('three processes on MongoDB and Redis', {
      ...BUILT_IN,
      SANDBOX_URL: ISSUER,
    });
    const { stack } = service;
    members = stack.members;
    gateways = [stack.gateway, await stack.addGateway()];
    restarting = Promise.resolve();
  });
  beforeEach(() => {
    restarts = true;
  });
  afterAll(async () => {
    await restarting;
    await service?.close();
  });

  /** Whatever has served a request is stopped and started before it serves another one. */
  async function dial(url: URL): Promise<URL> {
    await restarting;
    const [last, next] = gateways;
    gateways = [next, last];
    if (restarts) {
      restarting = service.stack.restart(last).then((again) => {
        gateways = [next, again];
      });
      if (members !== undefined) members = await service.stack.restart(members);
      // On a slow machine, its first answer can take longer than a gateway waits.
      await until(async () => (await fetch(`${next.url}/sign-in`)).status === 200);
    }
    return new URL(url.href.replace(ISSUER, next.url));
  }

  const mailbox = { mail: () => mailIn(service.stack.env.DATA_DIR ?? ''), send };
  const mailTo = (email: string, request: () => Promise<unknown>) =>
    nextEmail(mailbox, email, request);
  const newVisitor = () => createVisitor((url) => url.startsWith(CALLBACK), dial);

  async function send(request: ApiRequest) {
    const { origin } = await dial(new URL(ISSUER));
    return createClient(origin, service.keys.alpha)(request);
  }

  async function register(clientId: string): Promise<Registered> {
    const { secret, hash } = makeSecret();
    await service.stack.stores.members.apps.add({
      clientId,
      partnerId: 'alpha',
      name: 'Alpha Rooms',
      redirectUris: [CALLBACK],
      origins: [],
      secrets: [{ hash }],
      createdAt: Date.now(),
    });
    return { clientId, secret };
  }

  function authorizeUrl({ clientId }: Registered): string {
    const query = new URLSearchParams({
      client_id: clientId,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid profile email',
      code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
      code_challenge_method: 'S256',
    });
    return `${ISSUER}/oauth/authorize?${query}`;
  }

  /** From the page for the address to the page after the code. */
  async function typeCode(visitor: Visitor, page: Visited, email: string): Promise<Visited> {
    let typed = page;
    const mail = await mailTo(email, async () => {
      typed = await visitor.send(page, { email });
    });
    return visitor.send(typed, { code: codeIn(mail) });
  }

  async function ask({ clientId, secret }: Registered, path: string, form: object) {
    const body = new URLSearchParams({ client_id: clientId, client_secret: secret, ...form });
    const response = await fetch(await dial(new URL(ISSUER + path)), { method: 'POST', body });
    const text = await response.text();
    return { status: response.status, ...(text !== '' && JSON.parse(text)) };
  }

  async function exchange(app: Registered, { url }: Visited): Promise<Tokens> {
    const answer = await ask(app, '/oauth/token', {
      grant_type: 'authorization_code',
      code: new URL(url).searchParams.get('code') ?? url,
      redirect_uri: CALLBACK,
      code_verifier: VERIFIER,
    });
    expect(answer).toMatchObject({ status: 200 });
    return answer;
  }
  const refresh = (app: Registered, { refresh_token }: Tokens) =>
    ask(app, '/oauth/token', { grant_type: 'refresh_token', refresh_token });
  const read = async (token: string, id: string) => {
    const { body, code } = await send({ query: PROFILE, variables: { id }, token });
    return code ?? body.data?.memberProfile;
  };
  const userinfo = async ({ access_token: token }: Tokens) => {
    const url = await dial(new URL(`${ISSUER}/oauth/userinfo`));
    return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).json();
  };

  test(
    'an app: from signing in over a refresh and revoking it to signing out',
    async () => {
      const { memberId, email } = await newMember(service.stack);
      const app = await register('app-1');
      const visitor = newVisitor();
      const page = await typeCode(visitor, await visitor.visit(authorizeUrl(app)), email);
      const tokens = await exchange(app, await visitor.send(page, {}, 'agree'));
      expect(await userinfo(tokens)).toMatchObject({ sub: memberId, email });
      expect(await read(tokens.access_token, memberId)).toEqual({ email });
      expect(await read(tokens.id_token, memberId)).toEqual({ email });
      const refreshed = await refresh(app, tokens);
      expect(await read(refreshed.access_token, memberId)).toEqual({ email });

      const account = await visitor.visit(`${ISSUER}/account`);
      expect(account.html).toContain('name="revoke" value="app-1"');
      const revoked = await visitor.send(account, {}, 'revoke');
      expect(revoked.html).not.toContain('name="revoke"');
      await until(async () => (await read(refreshed.access_token, memberId)) === 'UNAUTHENTICATED');
      expect(await refresh(app, refreshed)).toMatchObject({ error: 'invalid_grant' });

      const again = await visitor.visit(authorizeUrl(app));
      const { id_token } = await exchange(app, await visitor.send(again, {}, 'agree'));
      const query = new URLSearchParams({
        id_token_hint: id_token,
        post_logout_redirect_uri: CALLBACK,
      });
      const question = await visitor.visit(`${ISSUER}/oauth/end-session?${query}`);
      expect((await visitor.send(question, {}, 'logout')).url).toBe(CALLBACK);
      expect((await visitor.visit(`${ISSUER}/account`)).url).toBe(`${ISSUER}/sign-in`);
    },
    PATIENCE_MS,
  );

  test('a refresh that is lost with a killed process costs that app’s sign-in at most', async () => {
    const { memberId, email } = await newMember(service.stack);
    const [app, other] = [await register('app-2'), await register('app-3')];
    await restarting;
    restarts = false;
    const visitor = newVisitor();
    const page = await typeCode(visitor, await visitor.visit(authorizeUrl(app)), email);
    const tokens = await exchange(app, await visitor.send(page, {}, 'agree'));
    const question = await visitor.visit(authorizeUrl(other));
    const others = await exchange(other, await visitor.send(question, {}, 'agree'));

    const lost = refresh(app, tokens).catch(() => undefined);
    const { payloads } = service.stack.stores.members;
    const row = `RefreshToken:${decodeJwt(tokens.access_token).sid}`;
    await until(async () => {
      // Cast: the row of a grant. A refresh begins with the next generation.
      const families = (await payloads.find(row))?.families as Record<
        string,
        { generation: number }
      >;
      return Object.values(families).some(({ generation }) => generation > 0);
    });
    const [used, next] = gateways;
    process.kill((members ?? used).pid, 'SIGKILL');
    await lost;
    if (members !== undefined) members = await service.stack.restart(members);
    else gateways = [await service.stack.restart(used), next];

    // On a slow machine, the first answers can be that what was started again is not there yet.
    await until(async () => (await refresh(app, tokens)).error === 'invalid_grant');
    await until(async () => (await read(tokens.access_token, memberId)) === 'UNAUTHENTICATED');
    expect(await read(others.access_token, memberId)).toEqual({ email });
    expect((await refresh(other, others)).error).toBeUndefined();
    expect((await visitor.visit(`${ISSUER}/account`)).html).toContain(email);
    // The session goes on, and the member has agreed to the app.
    const again = await exchange(app, await visitor.visit(authorizeUrl(app)));
    expect(await read(again.access_token, memberId)).toEqual({ email });
  });
});
