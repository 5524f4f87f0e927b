// Attacks by whoever reads a mailbox that a member no longer uses, with the real service and mail.

import { issueIdToken } from '@partner-loyalty/members';
import { type MailServer, startMailServer, tokenIn } from '../support/servers/mailserver.ts';
import { loyalty, loyaltyJson } from '../support/service/loyalty.ts';
import { BUILT_IN, REQUEST } from '../support/service/mailbox.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

const BASE = 'https://loyalty.example';
const OLD = 'both@example.com';
const NEW = 'moved@example.org';
const PROFILE = 'query ($id: ID!) { memberProfile(id: $id) { email } }';
const BY_EMAIL = 'query ($email: String!) { memberByEmail(email: $email) { memberId email } }';
const ENROLL =
  'mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created member { memberId } } }';
const REQUEST_CHANGE =
  'mutation ($email: String!) { requestEmailChange(email: $email) { accepted } }';

describe('three processes on MongoDB and Redis', () => {
  let mail: MailServer;
  let service: DeployedService;
  beforeAll(async () => {
    mail = await startMailServer();
    const settings = { ...BUILT_IN, SANDBOX_URL: BASE, SMTP_URL: mail.url };
    service = await startDeployed('three processes on MongoDB and Redis', settings);
  });
  afterAll(async () => {
    await service?.close();
    await mail.down();
  });

  const sentTo = (to: string) =>
    mail.mails.filter(({ recipients }) => recipients[0]?.toLowerCase() === to);
  /** The text of the next mail to an address. */
  const nextMail = async (to: string, act: () => Promise<unknown>): Promise<string> => {
    const before = sentTo(to).length;
    await act();
    await until(() => sentTo(to).length > before);
    return sentTo(to).at(-1)?.text ?? '';
  };
  const press = async (token: string) => {
    const reply = await fetch(`${service.stack.gateway.url}/sign-in`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ token }),
    });
    return { status: reply.status, text: await reply.text() };
  };
  const issueToken = async () => {
    const who = { memberId: 'm-both', email: OLD };
    return (await issueIdToken(service.stack.stores.members, who, BASE, new Date())).idToken;
  };
  const isSignedIn = async (token: string) =>
    (await service.send({ query: PROFILE, variables: { id: 'm-both' }, token })).status === 200;
  const requestLink = (email: string) => service.send({ query: REQUEST, variables: { email } });
  const found = async (email: string) =>
    (await service.send({ query: BY_EMAIL, variables: { email } })).body.data?.memberByEmail;
  const importLine = async (line: object) => {
    const { stores } = service.stack;
    const email = (line as { email: string }).email;
    return stores.members.importMembers([
      {
        previousAddresses: [],
        enrollments: [],
        ...line,
        address: { typed: email, canonical: email },
      },
    ]);
  };
  /** Waits until all mail requested so far is sent or dropped. */
  const settled = async () => {
    for (let round = 0; round < 2; round += 1)
      await nextMail('alpha.only@example.com', () => requestLink('alpha.only@example.com'));
  };

  test('taking an address back by a former mailbox: the new one gets notice and locks both, and no session survives', async () => {
    const session = await issueToken();
    const proof = await nextMail(NEW, () =>
      service.send({ query: REQUEST_CHANGE, variables: { email: NEW }, token: session }),
    );
    const notice = await nextMail(OLD, async () =>
      expect((await press(tokenIn(proof))).status).toBe(200),
    );
    expect(await isSignedIn(session)).toBe(true);

    // Whoever reads the former mailbox undoes the change, and asks for a link.
    const warning = await nextMail(NEW, async () =>
      expect((await press(tokenIn(notice))).status).toBe(200),
    );
    await until(async () => !(await isSignedIn(session)));
    expect(warning).not.toMatch(/both@example\.com/i);
    const link = await nextMail(OLD, () => requestLink(OLD));

    const opened = await fetch(`${service.stack.gateway.url}/sign-in?token=${tokenIn(warning)}`);
    expect([opened.status, await opened.text()]).toEqual([
      200,
      expect.stringMatching(/<form method="post".*Contest this/s),
    ]);
    expect(await press(tokenIn(warning))).toEqual({
      status: 200,
      text: expect.stringContaining('Your membership is protected'),
    });
    expect((await press(tokenIn(warning))).status).toBe(410);

    expect((await press(tokenIn(link))).status).toBe(410);
    const before = sentTo(OLD).length;
    await requestLink(OLD);
    await settled();
    expect(sentTo(OLD)).toHaveLength(before);
    expect([await found(OLD), await found(NEW)]).toEqual([
      { memberId: 'm-both', email: 'Both@Example.com' },
      null,
    ]);
    expect(await importLine({ memberId: 'm-both', email: 'third@example.com' })).toEqual([
      'address-locked',
    ]);
    expect(await importLine({ memberId: 'm-beta', email: NEW })).toEqual(['address-locked']);
    expect((await service.send({ query: ENROLL, variables: { input: { email: NEW } } })).code).toBe(
      'EMAIL_IN_USE',
    );

    const { env } = service.stack;
    expect(await loyaltyJson(env, 'members', 'unlock', NEW, '--to', 'm-both')).toEqual([
      { email: NEW, memberId: 'm-both', state: 'unlocked' },
    ]);
    expect(await found(NEW)).toEqual({ memberId: 'm-both', email: NEW });
    expect((await press(tokenIn(await nextMail(NEW, () => requestLink(NEW))))).text).toContain(
      'Your profile',
    );
    expect((await press(tokenIn(notice))).status).toBe(410);
  });

  test('an operator locks an address by hand: sessions and links end until it is unlocked', async () => {
    const { env } = service.stack;
    const email = 'ended@example.com';
    const link = await nextMail(email, () =>
      service.send({ query: REQUEST, variables: { email }, key: service.keys.gamma }),
    );
    expect(await loyaltyJson(env, 'members', 'lock', 'Ended@example.com')).toEqual([
      { email: 'Ended@example.com', memberId: 'm-ended', state: 'locked' },
    ]);
    expect((await press(tokenIn(link))).status).toBe(410);
    expect(await service.stack.stores.members.endedSessions.find('m-ended')).toEqual(
      expect.any(Number),
    );
    for (const [reason, ...args] of [
      ['nobody@nowhere.example leads to no member', 'lock', 'nobody@nowhere.example'],
      ['the address must be an email address', 'lock', 'nobody'],
      [`${NEW} is not locked`, 'unlock', NEW],
      ['there is no member "m-none"', 'unlock', email, '--to', 'm-none'],
    ] as const)
      expect(await loyalty(env, 'members', ...args)).toMatchObject({
        code: 1,
        stderr: `loyalty: ${reason}\n`,
      });
    expect(await loyaltyJson(env, 'members', 'unlock', email)).toEqual([
      { email, memberId: 'm-ended', state: 'unlocked' },
    ]);
    await nextMail(email, () =>
      service.send({ query: REQUEST, variables: { email }, key: service.keys.gamma }),
    );
  });
});
