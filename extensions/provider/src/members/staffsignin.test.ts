// Signing a partner's staff in, as the gateway asks for it.

import type { StaffSignIn, StaffSignInAnswer } from '@partner-loyalty/runtime/signin/staff.ts';
import {
  BASE,
  partner,
  SERVICE,
  type SignInStage,
  startSignIn,
} from '../../../../subgraphs/members/test/signin.ts';
import { codeIn, tokenIn } from '../../../../test/support/servers/mailserver.ts';
import { until } from '../../../../test/support/until.ts';
import { createBrowser } from '../../test/browser.ts';
import * as provider from './extension.ts';

// The first request has 2 seconds, and Jest takes longer to transform the library.
beforeAll(() => import('./handle.ts'));

const OPERATION = 'mutation ($request: String!) { answer: staffSignIn(request: $request) }';
const EVE = 'Eve@inn.example';

describe('signing staff in', () => {
  let stage: SignInStage;
  beforeEach(async () => {
    stage = await startSignIn([provider]);
  });
  afterEach(() => stage.release());

  async function ask(request: StaffSignIn): Promise<StaffSignInAnswer> {
    const variables = { request: JSON.stringify(request) };
    return JSON.parse(String(await stage.ask(SERVICE, OPERATION, variables)));
  }
  const begin = (more: Partial<Extract<StaffSignIn, { kind: 'begin' }>> = {}) =>
    ask({
      kind: 'begin',
      email: EVE,
      isStaff: true,
      clientAddress: '192.0.2.1',
      language: 'en',
      ...more,
    });

  /** Begins, and resolves with what the browser holds and what the mail has. */
  async function mailed(more: Parameters<typeof begin>[0] = {}) {
    const before = stage.server.mails.length;
    const begun = await begin(more);
    await until(() => stage.server.mails.length > before);
    const { text = '', recipients } = stage.server.mails.at(-1) ?? {};
    if (begun.outcome !== 'begun') throw new Error(begun.outcome);
    return { id: begun.id, text, recipients, code: codeIn(text), token: tokenIn(text) };
  }

  test('who is no member signs in by the code, in the language of the page', async () => {
    const { id, text, recipients, code } = await mailed({ language: 'de' });
    expect(recipients).toEqual(['eve@inn.example']);
    expect(text).toContain('Konsole für Partner');
    expect(text).toContain(`${BASE}/console/sign-in?token=si_`);
    const wrong = { outcome: 'wrong', address: EVE };
    expect(await ask({ kind: 'code', id, code: 'BBBB-BBBB' })).toEqual(wrong);
    const proven = await ask({ kind: 'code', id, code: code.toLowerCase() });
    expect(proven).toEqual({
      outcome: 'proven',
      address: 'eve@inn.example',
      known: expect.any(String),
    });
    // The answer may be lost.
    expect(await ask({ kind: 'code', id, code })).toMatchObject({ outcome: 'proven' });
  });

  test('code guessing: the fifth wrong code ends code and link', async () => {
    const { id, code, token } = await mailed();
    for (const outcome of ['wrong', 'wrong', 'wrong', 'wrong', 'expired'])
      expect(await ask({ kind: 'code', id, code: 'BBBBBBBB' })).toMatchObject({ outcome });
    expect(await ask({ kind: 'code', id, code })).toMatchObject({ outcome: 'expired' });
    expect(await ask({ kind: 'link', id, token })).toEqual({ outcome: 'elsewhere' });
  });

  test('every mail works in the browser that asked, and goes to the address as it was invited', async () => {
    const first = await mailed({ staffEmail: 'Eve.E@Inn.example' });
    expect(first.recipients).toEqual(['Eve.E@inn.example']);
    const second = await mailed({ id: first.id });
    const third = await mailed({ id: second.id });
    const { id } = third;
    const proven = await ask({ kind: 'code', id, code: first.code });
    expect(proven).toMatchObject({ outcome: 'proven', id: expect.stringContaining('~') });
    expect(await ask({ kind: 'code', id, code: 'BBBB-BBBB' })).toMatchObject({ outcome: 'wrong' });
    const left = proven.outcome === 'proven' ? (proven.id ?? '') : '';
    const link = { kind: 'link', id: left, token: second.token } as const;
    expect(await ask(link)).toMatchObject({
      outcome: 'proven',
      id: expect.not.stringContaining('~'),
    });
    expect(await ask({ kind: 'code', id, code: third.code })).toMatchObject({ outcome: 'proven' });
  });

  test('the link signs in where the sign-in began, and nowhere else', async () => {
    const { id, token } = await mailed();
    const link = { kind: 'link', token } as const;
    const elsewhere = { outcome: 'elsewhere' };
    expect(await ask({ ...link, id: '' })).toEqual(elsewhere);
    const other = await mailed({ email: 'ada@example.com' });
    expect(await ask({ ...link, id: other.id })).toEqual(elsewhere);
    for (const _ of ['first', 'again'])
      expect(await ask({ ...link, id })).toMatchObject({ outcome: 'proven' });
    expect(await ask({ ...link, id: other.id })).toEqual(elsewhere);
  });

  test('who is not staff gets the same answer and no mail, a member neither', async () => {
    for (const email of ['nobody@example.com', 'ada@example.com'])
      expect(await begin({ email, isStaff: false })).toEqual({
        outcome: 'begun',
        id: expect.any(String),
        address: email,
      });
    expect((await mailed()).recipients).toEqual(['eve@inn.example']);
    expect(stage.server.mails).toHaveLength(1);
    expect(await begin({ email: 'eve' })).toEqual({ outcome: 'invalid' });
  });

  test('mail bombing: the limits are as for members, who use none up, and a known browser has its own', async () => {
    const { id, code } = await mailed();
    const proven = await ask({ kind: 'code', id, code });
    const known = proven.outcome === 'proven' ? proven.known : '';
    const browser = createBrowser(stage);
    const page = await browser.open('/sign-in');
    for (let n = 0; n < 5; n += 1) await browser.submit(page, { email: EVE });
    const limited = { name: 'address', problem: 'limited' };
    expect((await browser.submit(page, { email: EVE })).page).toMatchObject(limited);
    const hour = { count: 20, windowMs: 3_600_000 };
    for (let n = 5; n < 20; n += 1)
      await stage.store.outbox.admit({ key: `code\n${EVE}`, ...hour }, Date.now());
    for (let n = 1; n < 5; n += 1) expect((await begin()).outcome).toBe('begun');
    expect(await begin()).toEqual({ outcome: 'limited' });
    expect((await begin({ known })).outcome).toBe('begun');
  });

  test('confused sign-ins: one of a member is of no use at the console, nor the reverse', async () => {
    const browser = createBrowser(stage);
    const before = stage.server.mails.length;
    const page = await browser.open('/sign-in');
    const codePage = await browser.submit(page, { email: 'ada@example.com' });
    await until(() => stage.server.mails.length > before);
    const { text } = stage.server.mails.at(-1) ?? {};
    const id = browser.cookies.get('__Host-sign-in /')?.value ?? '';
    const expired = { outcome: 'expired', address: 'ada@example.com' };
    expect(await ask({ kind: 'code', id, code: codeIn(text) })).toEqual(expired);
    const link = { kind: 'link', id, token: tokenIn(text) } as const;
    expect(await ask(link)).toEqual({ outcome: 'elsewhere' });

    const staff = await mailed({ email: 'ada@example.com' });
    browser.cookies.set('__Host-sign-in /', { value: staff.id, path: '/' });
    expect((await browser.open(`/sign-in?token=${staff.token}`)).page?.name).toBe('elsewhere');
    const answer = await browser.submit(codePage, { code: staff.code });
    expect(answer.page).toMatchObject({ name: 'code', problem: 'expired' });
  });

  test('nobody but the service signs staff in', async () => {
    const request = JSON.stringify({ kind: 'link', id: '', token: '' });
    expect(await stage.ask(partner('inn'), OPERATION, { request })).toBe('INTERNAL_SERVER_ERROR');
  });
});
