// Mail to inbox.test in a sandbox: partners read what their own calls have caused, and no more.
import { codeIn } from '../support/servers/mailserver.ts';
import { freePort } from '../support/servers/process.ts';
import { createVisitor, type Visited } from '../support/servers/visitor.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { BUILT_IN, linkIn } from '../support/service/mailbox.ts';
import { address } from '../support/service/testdata.ts';
import { until } from '../support/until.ts';

const MAILS = `query ($email: String!) {
  sandboxMails(email: $email) { id to subject text html sentAt } }`;
const REQUEST = 'mutation ($email: String!) { requestMagicLink(email: $email) { accepted } }';
const INVITE = 'mutation ($email: String!) { inviteMember(input: { email: $email }) { accepted } }';
const CALLBACK = 'http://app.localhost:1/callback';

type Mail = { id: string; to: string; subject: string; text: string; sentAt: string };

describe('mail to inbox.test', () => {
  let service: InProcessService;
  let issuer: string;
  beforeAll(async () => {
    const port = await freePort();
    issuer = `http://127.0.0.1:${port}`;
    const env = { ...BUILT_IN, PORT: `${port}`, SANDBOX_URL: issuer };
    service = await startInProcess({ env });
    for (const partnerId of ['alpha', 'beta', 'gamma'])
      await service.stores.members.apps.add({
        clientId: `app-${partnerId}`,
        partnerId,
        name: `App of ${partnerId}`,
        redirectUris: [CALLBACK],
        origins: [],
        ...(partnerId === 'gamma' && { isFirstParty: true }),
        createdAt: Date.now(),
      });
  });
  afterAll(() => service?.close());

  let made = 0;
  async function newMember(): Promise<{ memberId: string; email: string }> {
    made += 1;
    const [memberId, email] = [`inbox-${made}`, `inbox-${made}@inbox.test`];
    const enrollments = [
      { partnerId: 'alpha', firstName: 'Ada' },
      { partnerId: 'beta', firstName: 'Bea' },
    ];
    await service.stores.members.importMembers([
      { memberId, address: address(email), previousAddresses: [], enrollments },
    ]);
    return { memberId, email };
  }
  async function mails(email: string, key = service.keys.alpha): Promise<Mail[]> {
    const { body, text } = await service.send({ query: MAILS, variables: { email }, key });
    if (body.errors !== undefined) throw new Error(text);
    return body.data?.sandboxMails as Mail[]; // Cast: the schema guarantees it.
  }
  const newest = (email: string, key?: string) => until(async () => (await mails(email, key))[0]);
  const call = async (query: string, email: string) => {
    const { body } = await service.send({ query, variables: { email } });
    expect(body.errors).toBeUndefined();
  };
  const authorization = (partnerId: string) =>
    `${issuer}/oauth/authorize?${new URLSearchParams({
      client_id: `app-${partnerId}`,
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    })}`;

  /** From the page for the address to where the app is. */
  async function signIn(partnerId: 'alpha' | 'beta', email: string) {
    const visitor = createVisitor((url) => url.startsWith(CALLBACK));
    const typed = await visitor.send(await visitor.visit(authorization(partnerId)), { email });
    const { text } = await newest(email, service.keys[partnerId]);
    const next = await visitor.send(typed, { code: codeIn(text) });
    const back = next.html.includes('name="agree"') ? await visitor.send(next, {}, 'agree') : next;
    expect(back.url).toContain(`${CALLBACK}?code=`);
    return visitor;
  }
  const asksForAddress = ({ html }: Visited) => html.includes('type="email"');

  test('is read by the partner whose call caused it, the newest first, and never leaves', async () => {
    const { email } = await newMember();
    await call(REQUEST, email);
    const first = await newest(email);
    expect(first).toMatchObject({ to: email, text: expect.stringContaining('/sign-in?token=') });
    await call(REQUEST, email.toUpperCase());
    const both = await until(async () => {
      const found = await mails(email);
      return found.length === 2 && found;
    });
    expect(both[1]).toEqual(first);
    expect(await mails(email, service.keys.beta)).toEqual([]);
    expect(service.mail().join('')).not.toContain('@inbox.test');
  });

  test('attack: of 150 mails to one address, a query reads and returns the newest 100', async () => {
    const to = 'flooded@inbox.test';
    const mail = { partnerId: 'alpha', to, subject: 's', text: 't', html: 'h' };
    const { sandboxMails } = service.stores.members;
    const now = Date.now();
    for (let n = 0; n < 150; n += 1)
      await sandboxMails.add({ ...mail, id: `${n}`, sentAt: now - n * 1_000 }, now - n * 1_000);
    expect((await mails(to)).map(({ id }) => Number(id))).toEqual([...Array(100).keys()]);
  });

  test('erasing a member erases the mails, and an export has them', async () => {
    const { memberId, email } = await newMember();
    await call(REQUEST, email);
    const { subject } = await newest(email);
    const { rights } = service.stores.members;
    expect(await rights.find(memberId)).toMatchObject({ sandboxMails: [{ subject, to: email }] });
    await rights.erase(memberId);
    expect(await mails(email)).toEqual([]);
  });

  test('an invitation is a call of its partner too', async () => {
    await call(INVITE, 'invited@inbox.test');
    expect((await newest('invited@inbox.test')).text).toContain('/invitation?token=');
  });

  test('is empty for other domains, and refuses what is no address', async () => {
    for (const email of ['both@example.com', 'a@sub.inbox.test', 'a@xinbox.test'])
      expect(await mails(email)).toEqual([]);
    expect((await service.send({ query: MAILS, variables: { email: '' } })).code).toBe(
      'BAD_USER_INPUT',
    );
  });

  test('mail that a browser asks for at /sign-in is nobody’s', async () => {
    const { email } = await newMember();
    const visitor = createVisitor();
    await visitor.send(await visitor.visit(`${issuer}/sign-in`), { email });
    await call(REQUEST, email);
    const { subject } = await newest(email);
    expect(await mails(email)).toEqual([expect.objectContaining({ subject })]);
    expect(await mails(email, service.keys.beta)).toEqual([]);
  });

  test('a session begun by mail that a partner could read shows and changes nothing but that partner’s', async () => {
    const { memberId, email } = await newMember();
    await signIn('beta', email);
    const visitor = await signIn('alpha', email);
    const page = await visitor.visit(`${issuer}/account`);
    expect(page.html).toContain('you cannot change your address or your name here');
    for (const hidden of ['beta', 'Bea', 'name="firstName"', 'name="new-email"', 'name="end"'])
      expect(page.html).not.toContain(hidden);
    const post = async (fields: Record<string, string>) => {
      const forged = `<form><input name="${Object.keys(fields).join('"><input name="')}"></form>`;
      await visitor.send({ ...page, html: forged }, fields);
    };
    await post({ leave: 'beta' });
    await post({ revoke: 'app-beta' });
    await post({ firstName: 'Eve', lastName: 'X' });
    await post({ 'new-email': 'yes', email: 'eve@inbox.test' });
    const { members } = service.stores;
    expect(await members.member(memberId)).toMatchObject({
      email,
      enrollments: expect.arrayContaining([
        expect.objectContaining({ partnerId: 'beta', status: 'ACTIVE' }),
      ]),
    });
    expect((await members.access.find(memberId))?.apps.map(({ clientId }) => clientId)).toContain(
      'app-beta',
    );
    for (const other of ['beta', 'gamma'])
      expect(asksForAddress(await visitor.visit(authorization(other)))).toBe(true);
    const again = await visitor.visit(authorization('alpha'));
    expect(again.url).toContain(`${CALLBACK}?code=`);
    await post({ leave: 'alpha' });
    expect(await members.lookUp('alpha', [{ by: 'memberId', value: memberId }])).toMatchObject([
      { status: 'ENDED' },
    ]);
  });

  test('attack: a session that ends while its form arrives loses no limit to one partner', async () => {
    const { memberId, email } = await newMember();
    const visitor = await signIn('alpha', email);
    const page = await visitor.visit(`${issuer}/account`);
    const { access, lookUp } = service.stores.members;
    const { use } = access;
    access.use = async (...given) => {
      access.use = use;
      await access.endAll(memberId);
      return use(...given);
    };
    const forged = { ...page, html: '<form><input name="leave"></form>' };
    expect(asksForAddress(await visitor.send(forged, { leave: 'beta' }))).toBe(true);
    expect(await lookUp('beta', [{ by: 'memberId', value: memberId }])).toMatchObject([
      { status: 'FOUND' },
    ]);
  });

  test('attack: a session that ends during an authorization is none for other partners', async () => {
    const { memberId, email } = await newMember();
    await signIn('beta', email);
    const visitor = await signIn('alpha', email);
    const { access } = service.stores.members;
    const { find } = access;
    access.find = async (...given) => {
      access.find = find;
      await access.endAll(memberId);
      return find(...given);
    };
    expect(asksForAddress(await visitor.visit(authorization('beta')))).toBe(true);
  });

  test('a mailed link that a partner could read begins such a session too', async () => {
    const { email } = await newMember();
    await call(REQUEST, email);
    const visitor = createVisitor();
    const page = await visitor.visit(linkIn((await newest(email)).text));
    const account = await visitor.send(page, {}, 'token');
    expect(account.html).toContain('alpha');
    expect(account.html).not.toContain('beta');
  });

  test('a first-party app’s mail is nobody’s', async () => {
    const { email } = await newMember();
    const visitor = createVisitor();
    const typed = await visitor.send(await visitor.visit(authorization('gamma')), { email });
    expect(typed.html).toContain('name="code"');
    await call(REQUEST, email);
    await newest(email);
    expect(await mails(email, service.keys.gamma)).toEqual([]);
  });
});
