// The console of partners' staff, over HTTP without scripts: signing in, roles, and whose it is.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inviteStaff, issueKey, removeStaff, type StaffRole } from '@partner-loyalty/gateway';
import { placesOf } from '@partner-loyalty/gateway/identity/staff.ts';
import { openUsageStore } from '@partner-loyalty/usage/tables.ts';
import { temporaryFolder } from '../support/folder.ts';
import { codeIn } from '../support/servers/mailserver.ts';
import { createVisitor, type Visited, type Visitor } from '../support/servers/visitor.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { linkIn, nextEmail } from '../support/service/mailbox.ts';

let service: InProcessService;
const folder = temporaryFolder();
const auditLog = join(folder.path, 'audit.log');
beforeAll(async () => {
  // With an identity provider elsewhere, which staff do not use.
  service = await startInProcess({ env: { AUDIT_LOG: auditLog } });
});
afterAll(async () => {
  await service?.close();
  folder.remove();
});

const at = (path: string) => `${service.url}${path}`;
let made = 0;
const newAddress = () => {
  made += 1;
  return `staff-${made}@example.com`;
};

async function invite(partnerId: string, role: StaffRole, email = newAddress()) {
  const tables = await service.stores.keys.staffTables();
  const invited = await inviteStaff(tables, { partnerId, email, role });
  if (typeof invited === 'string') throw new Error(invited);
  return invited;
}

/** Types the address, and resolves with the page and the mail. */
async function begin(visitor: Visitor, email: string) {
  let page: Visited | undefined;
  const mail = await nextEmail(service, email, async () => {
    page = await visitor.send(await visitor.visit(at('/console')), { email });
  });
  if (page === undefined) throw new Error('no page');
  return { page, mail, link: at(`/console/sign-in${new URL(linkIn(mail)).search}`) };
}

async function signIn(email: string) {
  const visitor = createVisitor();
  const { page, mail } = await begin(visitor, email);
  return { visitor, page: await visitor.send(page, { code: codeIn(mail) }) };
}

async function signInAs(partnerId: string, role: StaffRole) {
  const staff = await invite(partnerId, role);
  return { staff, ...(await signIn(staff.email)) };
}

const heading = ({ html }: Visited) => /<h1>([^<]*)<\/h1>/.exec(html)?.[1];
const notice = ({ html }: Visited) => /<p class="notice[^>]*>([^<]*)</.exec(html)?.[1];

describe('signing in', () => {
  test('by the code, and out again', async () => {
    const { visitor, page, staff } = await signInAs('alpha', 'admin');
    expect([page.status, new URL(page.url).pathname]).toEqual([200, '/console']);
    expect(page.html).toContain(`<span>${staff.email}, admin</span>`);
    expect(page.html).toContain('<span class="badge sandbox">sandbox</span>');
    const { addresses } = await service.stores.keys.staffTables();
    expect(await addresses.get(staff.email)).toMatchObject({ language: 'en' });
    const keys = await visitor.visit(at('/console/keys'));
    expect(heading(keys)).toBe('API keys');
    const cookie = visitor.cookies().find((one) => one.startsWith('console=')) ?? '';
    const { headers } = await fetch(at('/console/keys'), { headers: { cookie } });
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    const out = await visitor.send(keys, {}, undefined);
    expect(heading(out)).toBe('Sign in to the console');
    const again = await fetch(at('/console/keys'), { headers: { cookie }, redirect: 'manual' });
    expect([again.status, again.headers.get('location')]).toEqual([303, '/console']);
  });

  test('what is no address is shown again, to be corrected', async () => {
    const visitor = createVisitor();
    const form = await visitor.visit(at('/console/sign-in'));
    const { html } = await visitor.send(form, { email: 'ann"acme.example' });
    expect(html).toContain('value="ann&quot;acme.example"');
  });

  test('fixation: signing in never takes over an ID that the browser had', async () => {
    const { email } = await invite('alpha', 'viewer');
    const visitor = createVisitor();
    const { page, mail } = await begin(visitor, email);
    const begun = visitor.cookies().find((one) => one.startsWith('console-sign-in='));
    await visitor.send(page, { code: codeIn(mail) });
    const [, planted = ''] = begun?.split('=') ?? [];
    const headers = { cookie: `console=${planted}` };
    const response = await fetch(at('/console/keys'), { headers, redirect: 'manual' });
    expect(response.status).toBe(303);
    expect(visitor.cookies().filter((one) => one.includes(planted))).toEqual([]);
  });
});

describe('whose it is', () => {
  test('staff of several partners choose one, and switch', async () => {
    const { email } = await invite('alpha', 'admin');
    await invite('beta', 'viewer', email);
    const { visitor, page } = await signIn(email);
    expect(heading(page)).toBe('Choose a partner');
    expect(heading(await visitor.visit(at('/console/keys')))).toBe('Choose a partner');
    const [, alpha = '', beta = ''] = page.html.split('name="staffId" value="');
    const choose = (value: string) => ({ staffId: value.split('"')[0] ?? '' });
    const post = (fields: Record<string, string>) =>
      visitor.post(at('/console/partner'), new URLSearchParams(fields));
    expect(heading(await post(choose(alpha)))).toBe('alpha');
    const other = await post(choose(beta));
    expect([heading(other), other.html.includes(`${email}, viewer`)]).toEqual(['beta', true]);
    const foreign = await invite('gamma', 'admin');
    expect(heading(await post({ staffId: foreign.staffId }))).toBe('Choose a partner');
    expect(heading(await visitor.visit(at('/console')))).toBe('beta');
    await service.stores.keys.changePartner('beta', { suspendedAt: new Date() });
    const suspended = await visitor.visit(at('/console'));
    await service.stores.keys.changePartner('beta', { suspendedAt: undefined });
    expect(suspended.html).toContain('Switch to another partner');
  });

  test('of a suspended partner they see a page that says so, and nothing else', async () => {
    const { visitor, page } = await signInAs('gamma', 'admin');
    const { keys } = service.stores;
    await keys.changePartner('gamma', { suspendedAt: new Date() });
    for (const path of ['/console', '/console/keys']) {
      const seen = await visitor.visit(at(path));
      expect([seen.status, heading(seen)]).toEqual([403, 'Your company is suspended']);
    }
    const body = new URLSearchParams({ action: 'invite', email: 'x@example.com', role: 'admin' });
    expect((await visitor.post(at('/console/staff'), body)).status).toBe(403);
    await keys.changePartner('gamma', { suspendedAt: undefined });
    expect(heading(page)).toBe('gamma');
  });

  test('a form changes nothing once another partner is chosen than the one of its page', async () => {
    const { email, staffId } = await invite('alpha', 'admin');
    await invite('beta', 'admin', email);
    const { visitor, page } = await signIn(email);
    const [, alpha = '', beta = ''] = page.html.split('name="staffId" value="');
    const choose = (from: string) =>
      visitor.post(
        at('/console/partner'),
        new URLSearchParams({ staffId: from.split('"')[0] ?? '' }),
      );
    await choose(alpha);
    const form = await visitor.visit(at('/console/staff'));
    expect(form.html).toContain(`<input type="hidden" name="for" value="${staffId}">`);
    await choose(beta);
    const mine = { action: 'invite', email: newAddress(), role: 'admin', for: staffId };
    const send = () => visitor.post(at('/console/staff'), new URLSearchParams(mine));
    const sent = await send();
    expect([sent.status, heading(sent)]).toEqual([409, 'Another partner is chosen now']);
    await choose(alpha);
    expect((await send()).html).toContain(mine.email);
  });

  test('another partner cannot end a sign-in by inviting and removing the person', async () => {
    const staff = await invite('alpha', 'admin');
    const other = await invite('beta', 'viewer', staff.email);
    const { visitor, page } = await signIn(staff.email);
    await removeStaff(await service.stores.keys.staffTables(), other.staffId);
    expect((await visitor.send(page, {}, 'staffId')).html).toContain(`${staff.email}, admin`);
    const last = await invite('beta', 'viewer');
    await invite('alpha', 'viewer', last.email);
    const undecided = await signIn(last.email);
    for (const { staffId } of await placesOf(await service.stores.keys.staffTables(), last.email))
      await removeStaff(await service.stores.keys.staffTables(), staffId);
    await invite('alpha', 'viewer', last.email);
    expect(heading(await undecided.visitor.visit(at('/console')))).toBe('Sign in to the console');
  });

  test('a removed member of staff is signed out, a changed role counts at once', async () => {
    const { visitor, staff } = await signInAs('alpha', 'admin');
    await invite('alpha', 'viewer', staff.email);
    const body = new URLSearchParams({ action: 'create', name: 'x', scopes: 'read' });
    const refused = await visitor.post(at('/console/keys'), body);
    expect([refused.status, heading(refused)]).toEqual([403, 'Only admins can make changes']);
    await removeStaff(await service.stores.keys.staffTables(), staff.staffId);
    expect(heading(await visitor.visit(at('/console/keys')))).toBe('Sign in to the console');
    await invite('alpha', 'admin', staff.email);
    expect(heading(await visitor.visit(at('/console/keys')))).toBe('Sign in to the console');
  });

  test('isolation: the keys and staff of another partner are not found', async () => {
    const { visitor } = await signInAs('alpha', 'admin');
    const foreign = await invite('beta', 'viewer');
    const [key] = await service.stores.keys.keys('beta');
    const post = (path: string, fields: Record<string, string>) =>
      visitor.post(at(path), new URLSearchParams(fields));
    const keyId = key?.keyId ?? '';
    for (const fields of [
      { action: 'revoke', keyId },
      { action: 'rotate', keyId, overlap: '7' },
      { action: 'revoke', keyId: 'key_none' },
    ]) {
      const page = await post('/console/keys', fields);
      expect([page.status, notice(page)]).toEqual([404, 'There is no key with this ID.']);
    }
    const removal = await post('/console/staff', { action: 'remove', staffId: foreign.staffId });
    expect(removal.status).toBe(404);
    expect(await service.stores.keys.keys('beta')).toEqual([key]);
    const staff = await visitor.visit(at('/console/staff'));
    expect(staff.html).not.toContain(foreign.email);
  });
});

describe('forms', () => {
  test('a form that is sent twice creates one key, and shows it again', async () => {
    const { visitor } = await signInAs('alpha', 'admin');
    const page = await visitor.visit(at('/console/keys'));
    const before = (await service.stores.keys.keys('alpha')).length;
    const create = (name: string) =>
      visitor.send(page, { name, scopes: 'read', expires: '90' }, 'action');
    const pages = await Promise.all([create('twice'), create('twice'), create('twice')]);
    pages.push(await create('twice'));
    const keys = pages.map(({ html }) => /pk_test_\w{36}/.exec(html)?.[0]);
    expect([new Set(keys).size, keys[0]]).toEqual([1, expect.any(String)]);
    expect(await service.stores.keys.keys('alpha')).toHaveLength(before + 1);
    await create('another');
    expect(await service.stores.keys.keys('alpha')).toHaveLength(before + 2);
    // Whoever goes on from the page with the key may make one more.
    const next = await visitor.visit(at('/console/keys'));
    await visitor.send(next, { name: 'twice', scopes: 'read', expires: '90' }, 'action');
    expect(await service.stores.keys.keys('alpha')).toHaveLength(before + 3);
  });

  test('after signing out, nothing that a form led to is shown again', async () => {
    const { visitor } = await signInAs('alpha', 'admin');
    const page = await visitor.visit(at('/console/keys'));
    const create = () =>
      visitor.send(page, { name: 'secret', scopes: 'read', expires: '90' }, 'action');
    expect((await create()).html).toContain('pk_test_');
    await visitor.send(page, {});
    const again = await create();
    expect([again.status, again.html.includes('pk_test_')]).toEqual([401, false]);
  });

  test('without a session, or as a viewer, nothing is changed', async () => {
    const body = new URLSearchParams({ action: 'create', name: 'mine', scopes: 'read' });
    expect((await createVisitor().post(at('/console/keys'), body)).status).toBe(401);
    const { visitor } = await signInAs('alpha', 'viewer');
    for (const section of ['keys', 'webhooks', 'staff'])
      expect((await visitor.post(at(`/console/${section}`), body)).status).toBe(403);
    const keys = await visitor.visit(at('/console/keys'));
    expect(keys.html).not.toContain('name="action"');
    // The provider elsewhere has no apps of ours.
    for (const path of ['/console/nothing', '/console/apps'])
      expect((await visitor.visit(at(path))).status).toBe(404);
    expect(keys.html).not.toContain('/console/apps');
    const names = (await service.stores.keys.keys('alpha')).map(({ name }) => name);
    expect(names).not.toContain('mine');
  });
});

describe('staff', () => {
  test('an admin invites, changes roles and removes, but never the last admin', async () => {
    const { visitor, staff } = await signInAs('frugal', 'admin');
    const post = (fields: Record<string, string>) =>
      visitor.post(at('/console/staff'), new URLSearchParams(fields));
    const listed = async () => {
      const page = await visitor.visit(at('/console/staff'));
      return [...page.html.matchAll(/<h2>(\S+@\S+) <span class="state (\w+)/g)].map(
        ([, email, role]) => `${email} ${role}`,
      );
    };
    const other = newAddress();
    const mail = await nextEmail(service, other, async () => {
      const invited = await post({ action: 'invite', email: other, role: 'viewer' });
      const says = `Invited ${other} as viewer: they sign in at http://localhost:4000/console.`;
      expect(notice(invited)).toBe(`${says} We sent them an email that says so.`);
      expect(invited.html).toContain(`<h2>${other} <span class="state viewer"`);
    });
    expect(mail).toContain('http://localhost:4000/console');
    expect(await listed()).toEqual([`${staff.email} admin`, `${other} viewer`]);
    const demoted = await post({ action: 'invite', email: staff.email, role: 'viewer' });
    expect([demoted.status, notice(demoted)]).toEqual([
      400,
      'There must be at least one admin. Make somebody else an admin first.',
    ]);
    expect((await post({ action: 'remove', staffId: staff.staffId })).status).toBe(400);
    for (const fields of [
      { action: 'invite', email: 'nobody', role: 'viewer' },
      { action: 'invite', email: other, role: 'owner' },
      { action: 'promote', email: other },
    ])
      expect((await post(fields)).status).toBe(400);
    await post({ action: 'invite', email: other, role: 'admin' });
    await post({ action: 'remove', staffId: staff.staffId });
    expect((await visitor.visit(at('/console/staff'))).html).toContain('input id="email"');
    const { visitor: second } = await signIn(other);
    expect((await second.visit(at('/console/staff'))).html).not.toContain(staff.email);
  });
});

test('with CONSOLE=off, its pages are a 404 like any unknown path', async () => {
  const off = await startInProcess({ env: { CONSOLE: 'off' } });
  for (const path of ['/console', '/console/sign-in', '/console/keys']) {
    const response = await fetch(`${off.url}${path}`, { headers: { accept: 'text/html' } });
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.stringContaining('Page not found'),
    ]);
  }
  await off.close();
});

test("a partner's long searches wait for each other, and no other partner for them", async () => {
  const usage = await openUsageStore({ dataDir: service.dataDir, environment: 'sandbox' });
  const record = { keyId: 'key', status: 200, codes: [], cost: 1, durationMs: 1 };
  const chunks = Array.from({ length: 40 }, (_, n) => ({
    ...{ partnerId: 'alpha', begun: Date.now() - n * 2_000, writer: 'w' },
    records: Array.from({ length: 500 }, (_, m) => ({
      ...record,
      ...{ time: Date.now() - n * 2_000, requestId: `r${m}` },
    })),
  }));
  await usage.addRequests({ at: new Date(), hours: [], chunks });
  const [many, one] = [await signInAs('alpha', 'viewer'), await signInAs('beta', 'viewer')];
  const order: string[] = [];
  const search = (partner: string, { visitor }: typeof one) =>
    visitor.visit(at('/console/requests?code=NOPE')).then(({ status }) => {
      order.push(`${partner} ${status}`);
    });
  const searches = Array.from({ length: 5 }, () => search('alpha', many));
  await Promise.all([...searches, search('beta', one)]);
  expect(order).toEqual(['beta 200', ...Array(5).fill('alpha 200')]);
});

test('exhaustion: the staff of a partner have so many pages together, and others theirs', async () => {
  const crowd = { partnerId: 'crowd', name: 'Crowd', createdAt: new Date() };
  await service.stores.keys.createPartner(crowd);
  const partners = ['crowd', 'crowd', 'crowd', 'alpha'];
  const visitors = await Promise.all(partners.map((one) => signInAs(one, 'viewer')));
  const [first, second, third, other] = visitors.map(({ visitor }) => visitor);
  const { visitor: admin } = await signInAs('crowd', 'admin');
  const statuses = async (visitor: Visitor | undefined, count: number) => {
    const headers = { cookie: visitor?.cookies().join('; ') ?? '' };
    const seen = new Set<number>();
    for (let sent = 0; sent < count; sent += 20) {
      const ask = () => fetch(at('/console'), { method: 'HEAD', headers });
      for (const { status } of await Promise.all(Array.from({ length: 20 }, ask))) seen.add(status);
    }
    return [...seen];
  };
  expect(await statuses(first, 560)).toEqual([200]);
  expect(await statuses(second, 560)).toEqual([200]);
  expect(await statuses(third, 100)).toContain(429);
  expect(await statuses(other, 20)).toEqual([200]);
  expect(await statuses(admin, 20)).toEqual([200]);
});

describe('keys', () => {
  test('the scopes and addresses of a key made here are those that the operator allows', async () => {
    const { visitor } = await signInAs('gamma', 'admin');
    const { keys } = service.stores;
    const post = (fields: Record<string, string>) =>
      visitor.post(at('/console/keys'), new URLSearchParams(fields));
    const named = async (name: string) =>
      (await keys.keys('gamma')).find((key) => key.name === name);
    const create = (name: string, scopes: string) =>
      post({ action: 'create', name, scopes, expires: '' });
    for (const scopes of ['ingest', '', 'admin'])
      expect((await create('beyond', scopes)).status).toBe(400);
    await create('within', 'sign-in');
    expect(await named('within')).toMatchObject({ scopes: ['sign-in'] });
    await keys.changePartner('gamma', { scopes: ['ingest'], allow: ['10.0.0.0/8'] });
    expect((await create('beyond', 'read')).status).toBe(400);
    await create('limited', 'ingest');
    expect(await named('limited')).toMatchObject({ scopes: ['ingest'], allow: ['10.0.0.0/8'] });
    const { keyId = '' } = (await named('within')) ?? {};
    await post({ action: 'rotate', keyId, overlap: '1' });
    const [, rotated] = (await keys.keys('gamma')).filter(({ name }) => name === 'within');
    expect([rotated?.scopes, rotated?.allow]).toEqual([['sign-in'], undefined]);
    expect(await named('beyond')).toBeUndefined();
    expect((await create('x'.repeat(101), 'ingest')).status).toBe(400);
    const { html } = await create('"Desk"', 'admin');
    expect(html).toContain('value="&quot;Desk&quot;"');
    expect(html).toContain('<option value="" selected>never</option>');
    expect(html).not.toContain('value="ingest" checked');

    const { record } = issueKey('sandbox', 'gamma', new Date(), { endpoint: 'mcp' });
    await keys.createKey(record);
    const refused = await post({ action: 'rotate', keyId: record.keyId, overlap: '1' });
    expect([refused.status, notice(refused)]).toEqual([
      400,
      'Only the operator of this service can create keys for /mcp.',
    ]);
  });

  test('a thousand keys of one partner, whose page would keep all others waiting, cannot be made, nor by racing', async () => {
    const partnerId = 'many-keys';
    await service.stores.keys.createPartner({ partnerId, name: partnerId, createdAt: new Date() });
    const { visitor } = await signInAs(partnerId, 'admin');
    const of = (expiresAt?: Date) =>
      issueKey('sandbox', partnerId, new Date(), { expiresAt }).record;
    for (let count = 0; count < 100; count += 1) {
      await service.stores.keys.createKey(of(new Date(0)));
      await service.stores.keys.createKey(of());
    }
    const [first] = (await service.stores.keys.keys(partnerId)).filter((key) => !key.expiresAt);
    const post = (fields: Record<string, string>) =>
      visitor.post(at('/console/keys'), new URLSearchParams(fields));
    const refusal = 'You have 100 active keys. Revoke one first.';
    const keyId = first?.keyId ?? '';
    expect(notice(await post({ action: 'create', name: 'x', scopes: 'read' }))).toBe(refusal);
    expect(notice(await post({ action: 'rotate', keyId }))).toBe(refusal);
    const { html } = await post({ action: 'revoke', keyId });
    expect(html).toContain('Keys that no longer work: 101');
    expect(html.match(/<li class="row">/g)).toHaveLength(119);
    const created = { action: 'create', name: 'x', scopes: 'read' };
    const pages = await Promise.all([post(created), post(created), post(created)]);
    expect(pages.map(notice).sort()).toEqual([
      'Copy the key now: it is not shown again.',
      refusal,
      refusal,
    ]);
  });

  const created = ({ html }: Visited) => /pk_test_\w{36}/.exec(html)?.[0] ?? '';
  const keyNamed = async (name: string) =>
    (await service.stores.keys.keys('beta')).filter((key) => key.name === name);

  test('an admin makes one that works, rotates and revokes it, and the audit log says so', async () => {
    const { visitor, staff } = await signInAs('beta', 'admin');
    const page = await visitor.visit(at('/console/keys'));
    const shown = await visitor.send(
      page,
      { name: 'Desk <1>', scopes: 'read', expires: '30' },
      'action',
    );
    const key = created(shown);
    expect(shown.html).toContain('Desk &lt;1&gt;');
    expect((await visitor.visit(at('/console/keys'))).html).not.toContain(key);
    expect(await service.send({ query: '{ viewer { scopes } }', key })).toMatchObject({
      body: { data: { viewer: { scopes: ['read'] } } },
    });
    const [first] = await keyNamed('Desk <1>');
    const post = (fields: Record<string, string>) =>
      visitor.post(at('/console/keys'), new URLSearchParams(fields));
    const keyId = first?.keyId ?? '';
    const forged = { forgedId: 'key_of_somebody_else' };
    const rotated = await post({ ...forged, action: 'rotate', keyId, overlap: '1' });
    const [former, next] = await keyNamed('Desk <1>');
    expect([former?.scopes, next?.scopes]).toEqual([['read'], ['read']]);
    expect(
      (await service.send({ query: '{ viewer { keyId } }', key: created(rotated) })).body,
    ).toEqual({
      data: { viewer: { keyId: next?.keyId } },
    });
    const revoked = await post({ ...forged, action: 'revoke', keyId });
    expect(notice(revoked)).toBe('The key is revoked. It stops working within 5 seconds.');
    expect(revoked.html).toContain(`ends with <code>${created(rotated).slice(-4)}</code>`);
    expect((await keyNamed('Desk <1>'))[0]?.revokedAt).toBeInstanceOf(Date);

    await service.close();
    const lines = readFileSync(auditLog, 'utf8').trim().split('\n');
    const done = lines
      .map((line) => JSON.parse(line))
      .filter((one) => one.staffId === staff.staffId);
    expect(done).toMatchObject([
      { operation: 'console.sign-in', partner: 'beta' },
      { operation: 'console.keys.create', target: keyId },
      { operation: 'console.keys.rotate', target: keyId },
      { operation: 'console.keys.revoke', target: keyId, requestId: expect.any(String) },
    ]);
    expect(readFileSync(auditLog, 'utf8')).not.toContain(staff.email);
  });
});
