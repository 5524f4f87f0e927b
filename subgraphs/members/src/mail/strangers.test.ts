// Mail to people who may not know the partner, through the subgraph and a mail server: an attack.
import { tokenIn } from '../../../../test/support/servers/mailserver.ts';
import { until } from '../../../../test/support/until.ts';
import {
  ENROLL,
  EXCHANGE,
  INVITE,
  partner,
  REQUEST,
  type SignInStage,
  startSignIn,
} from '../../test/signin.ts';

const ACCEPTED = { accepted: true };
const PER_DAY = 20;
const ASKED = 30;

describe('mail to strangers', () => {
  let stage: SignInStage;
  beforeEach(async () => {
    stage = await startSignIn();
    await stage.store.partners.put({ partnerId: 'inn', name: 'The Inn', invitations: PER_DAY });
  });
  afterEach(() => stage.release());

  const strangers = Array.from({ length: ASKED }, (_, i) => `stranger${i}@example.com`);
  const recipients = () => stage.server.mails.map((mail) => mail.recipients[0] ?? '');
  const handled = () =>
    until(async () => (await stage.store.outbox.select(() => true)).length === 0);
  const ask = async (email: string) =>
    expect(await stage.ask(partner('inn'), REQUEST, { email })).toEqual(ACCEPTED);
  const invite = async (email: string) =>
    expect(await stage.ask(partner('inn'), INVITE, { input: { email } })).toEqual(ACCEPTED);

  test(`spam: of an invitation and links for ${ASKED} strangers, ${PER_DAY} are mailed`, async () => {
    await invite('guest@example.com');
    await handled();
    const spam = async (email: string) => {
      const enrolled = await stage.ask(partner('inn'), ENROLL, { input: { email } });
      expect(enrolled).toEqual({ created: true });
      await ask(email);
    };
    for (let i = 0; i < strangers.length; i += 20)
      await Promise.all(strangers.slice(i, i + 20).map(spam));
    await handled();
    const reached = recipients();
    expect(reached).toHaveLength(PER_DAY);
    expect(reached[0]).toBe('guest@example.com');
    await invite('other@example.com');
    await handled();
    expect(recipients()).toHaveLength(PER_DAY);
    expect(await stage.metrics.text()).toContain(
      `loyalty_mail_limited_total{partner="inn"} ${ASKED + 2 - PER_DAY}`,
    );

    // A member who is known from an import, and one who becomes known by using a link.
    expect(await stage.link()).toMatch(/^ml_/);
    const { recipients: [known = ''] = [], text } = stage.server.mails[1] ?? {};
    await stage.ask(partner('inn'), EXCHANGE, { token: tokenIn(text) });
    expect(await stage.link('inn', known)).toMatch(/^ml_/);
  });
});
