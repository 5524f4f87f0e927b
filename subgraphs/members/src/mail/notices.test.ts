// Notices to a partner's staff, as the gateway asks for them, with a real mail server.
import type { StaffNotice } from '@partner-loyalty/runtime/signin/staff.ts';
import { until } from '../../../../test/support/until.ts';
import { BASE, partner, SERVICE, type SignInStage, startSignIn } from '../../test/signin.ts';

const OPERATION = 'mutation ($notice: String!) { answer: mailStaff(notice: $notice) }';
const EVE = { staffId: 'staff_eve', address: 'eve@inn.example' };
const BOB = { staffId: 'staff_bob', address: 'bob@inn.example', language: 'de' };
const KEY: StaffNotice = {
  noticeId: 'key_1/14',
  letter: 'keyExpires',
  partnerId: 'inn',
  about: '"Tills" (key_1)',
  until: Date.parse('2031-05-31T10:00:00Z'),
  recipients: [EVE, BOB],
};

describe('notices to staff', () => {
  let stage: SignInStage;
  beforeEach(async () => {
    stage = await startSignIn();
    await stage.store.partners.put({ partnerId: 'inn', name: 'The Inn' });
  });
  afterEach(() => stage.release());

  const ask = (notice: StaffNotice, caller = SERVICE) =>
    stage.ask(caller, OPERATION, { notice: JSON.stringify(notice) });
  const sentTo = (address: string) =>
    stage.server.mails.filter(({ recipients }) => recipients[0] === address);
  const arrived = (count: number) => until(() => stage.server.mails.length === count);
  /** A notice whose job is not done yet is not mailed again. */
  const allDone = () => until(async () => (await stage.store.outbox.waiting()).count === 0);

  test('everybody gets one in the language of the last sign-in, or in English', async () => {
    expect(await ask(KEY)).toBe(true);
    await arrived(2);
    const [english] = sentTo(EVE.address);
    const [german] = sentTo(BOB.address);
    expect(english?.text).toContain(
      'The API key \u2068"Tills" (key_1)\u2069 of \u2068The Inn\u2069 expires on Sat, 31 May 2031 10:00:00 GMT.',
    );
    expect(german?.text).toContain('läuft am 31. Mai 2031 um 10:00 UTC ab');
    for (const mail of [english, german]) expect(mail?.text).toContain(`${BASE}/console/keys`);
    const recipients = [EVE];
    await ask({ ...KEY, noticeId: 'wh_1/1', letter: 'webhookDisabled', about: 'wh_1', recipients });
    await arrived(3);
    expect(sentTo(EVE.address)[1]?.text).toContain(
      'The webhook endpoint \u2068wh_1\u2069 of \u2068The Inn\u2069',
    );
    expect(sentTo(EVE.address)[1]?.text).toContain(`${BASE}/console/webhooks`);
    await ask({ ...KEY, noticeId: 'wh_1/2', letter: 'webhookFailing', about: 'wh_1', recipients });
    await arrived(4);
    expect(sentTo(EVE.address)[2]?.text).toContain('has not accepted an event for an hour or more');
    await ask({ ...KEY, noticeId: 's_1', letter: 'staffInvited', about: EVE.address, recipients });
    await arrived(5);
    expect(sentTo(EVE.address)[3]?.text).toContain(`To sign in, enter ${EVE.address} at this`);
  });

  test('a notice that is sent again has the ID by which mailboxes know a mail', async () => {
    await ask(KEY);
    await arrived(2);
    await allDone();
    await ask(KEY);
    await arrived(4);
    await ask({ ...KEY, noticeId: 'key_2/14' });
    await arrived(6);
    const [first, again, other] = sentTo(EVE.address).map(({ messageId }) => messageId);
    expect(again).toBe(first);
    expect([other, sentTo(BOB.address)[0]?.messageId]).not.toContain(first);
  });

  test('mail bombing: an address gets 20 in a day for a partner, however many keys expire', async () => {
    const recipients = [EVE];
    for (let n = 0; n < 25; n += 1) await ask({ ...KEY, noticeId: `key_${n}/3`, recipients });
    await allDone();
    expect(sentTo(EVE.address)).toHaveLength(20);
    await ask({ ...KEY, partnerId: 'spa', recipients });
    await arrived(21);
  });

  test('a name cannot add lines to the mail, nor tags', async () => {
    await ask({ ...KEY, about: '"<b>\nBcc: a@b.example" (key_1)', recipients: [EVE] });
    await arrived(1);
    const [mail] = stage.server.mails;
    expect(mail?.text).toContain(
      'The API key \u2068"<b> Bcc: a@b.example" (key_1)\u2069 of \u2068The Inn\u2069',
    );
    expect(mail?.html).not.toContain('<b>');
  });

  test('nobody but the service mails staff', async () => {
    expect(await ask(KEY, partner('inn'))).toBe('INTERNAL_SERVER_ERROR');
    expect(stage.server.mails).toEqual([]);
  });
});
