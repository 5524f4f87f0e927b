// Mail to people who may not know the partner, through the subgraph and a mail server: an attack.
import { tokenIn } from '../../../../test/support/servers/mailserver.ts';
import { until } from '../../../../test/support/until.ts';
import { ENGINES } from '../../test/engine.ts';
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

describe.each(ENGINES)('mail to strangers on %s', (engine) => {
  let stage: SignInStage;
  beforeEach(async () => {
    stage = await startSignIn(engine);
  });
  afterEach(() => stage.release());

  const strangers = Array.from({ length: 300 }, (_, i) => `stranger${i}@example.com`);
  const recipients = () => stage.server.mails.map((mail) => mail.recipients[0] ?? '');
  const handled = () =>
    until(async () => (await stage.store.outbox.select(() => true)).length === 0);
  const ask = async (email: string) =>
    expect(await stage.ask(partner('inn'), REQUEST, { email })).toEqual(ACCEPTED);
  const invite = async (email: string) =>
    expect(await stage.ask(partner('inn'), INVITE, { input: { email } })).toEqual(ACCEPTED);

  test('spam: of links for 300 strangers whom a partner enrolled and an invitation, 200 are mailed', async () => {
    await invite('guest@example.com');
    await handled();
    for (const email of strangers) {
      expect(await stage.ask(partner('inn'), ENROLL, { input: { email } })).toEqual({
        created: true,
      });
      await ask(email);
    }
    await handled();
    const reached = recipients();
    expect(reached).toHaveLength(200);
    expect(reached[0]).toBe('guest@example.com');
    await invite('other@example.com');
    await handled();
    expect(recipients()).toHaveLength(200);
    expect(await stage.metrics.text()).toContain('loyalty_mail_limited_total{partner="inn"} 102');

    // A member who is known from an import, and one who becomes known by using a link.
    expect(await stage.link()).toMatch(/^ml_/);
    const { recipients: [known = ''] = [], text } = stage.server.mails[1] ?? {};
    await stage.ask(partner('inn'), EXCHANGE, { token: tokenIn(text) });
    expect(await stage.link('inn', known)).toMatch(/^ml_/);
  });
});
