// What is mailed, and when.

import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { LogFields } from '@partner-loyalty/runtime/observe/fields.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics, type Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { StaffNotice } from '@partner-loyalty/runtime/signin/staff.ts';
import fc from 'fast-check';
import PostalMime from 'postal-mime';
import PAGES_DE from '../../../../runtime/src/pages/languages/de.json' with { type: 'json' };
import PAGES_EN from '../../../../runtime/src/pages/languages/en.json' with { type: 'json' };
import { temporaryFolder } from '../../../../test/support/folder.ts';
import { type MailServer, startMailServer } from '../../../../test/support/servers/mailserver.ts';
import { anyText } from '../../../../test/support/text.ts';
import { until } from '../../../../test/support/until.ts';
import { memberImport, newPlace, type Place } from '../../test/engine.ts';
import { BASE, partner, SERVICE, type SignInStage, startSignIn } from '../../test/signin.ts';
import { makeToken } from '../rules/mailedtoken.ts';
import type { MembersStore } from '../store/store.ts';
import type { MailTask } from '../tables/outbox.ts';
import DE from './letters/de.json' with { type: 'json' };
import EN from './letters/en.json' with { type: 'json' };
import { domainOf, openMailer } from './mailer.ts';
import { type Email, linkTo, write } from './template.ts';
import { startMailWorker } from './worker.ts';

// Notices to a partner's staff, as the gateway asks for them, with a real mail server.

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
      'The API key \u2068"Tills" (key_1)\u2069 of \u2068The Inn\u2069 expires at 2031-05-31 10:00 UTC.',
    );
    expect(german?.text).toContain('gilt bis 2031-05-31 10:00 UTC');
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

  test('nobody but the service mails staff', async () => {
    expect(await ask(KEY, partner('inn'))).toBe('INTERNAL_SERVER_ERROR');
    expect(stage.server.mails).toEqual([]);
  });
});

// Email templates and the mailer: what mail says, and what nobody can make it say.
describe('template', () => {
  const LINK = 'https://api.example/sign-in?token=ml_x';

  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  const magicLink = (partner = 'The Inn') =>
    write('magicLink', 'ada@example.com', { partner, link: LINK, minutes: 15 });
  const outbox = () => join(folder.path, 'outbox');
  const send = (email: Email, messageId = 'job@api.example') =>
    openMailer({ mailFrom: 'Loyalty <no-reply@api.example>', dataDir: folder.path }).send(
      email,
      messageId,
    );
  const sent = async (email: Email) => {
    await send(email);
    const bytes = readFileSync(join(outbox(), readdirSync(outbox())[0] ?? ''));
    return { raw: bytes.toString('latin1'), mail: await PostalMime.parse(bytes) };
  };

  test("magic link mail has the partner's name, the link and its lifetime, as text and HTML", async () => {
    const { mail } = await sent(magicLink());
    expect(mail).toMatchObject({
      subject: 'Sign in to The Inn',
      messageId: '<job@api.example>',
      to: [{ address: 'ada@example.com', name: '' }],
    });
    expect(mail.from).toEqual({ name: 'Loyalty', address: 'no-reply@api.example' });
    expect(mail.headers).toContainEqual(
      expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
    );
    for (const part of [mail.text, mail.html])
      for (const said of ['The Inn', LINK, '15 minutes']) expect(part).toContain(said);
  });

  test.each(['en', 'de'])(
    'a link is on one line of the file, to be copied: %s',
    async (language) => {
      const link = linkTo('http://localhost:4000/sign-in', makeToken('sign-in').token);
      expect(
        (
          await sent(write('magicLink', 'ada@example.com', { partner: 'The Inn', link }, language))
        ).raw.split('\r\n'),
      ).toContain(link);
    },
  );

  test('a name keeps the joiners that its script needs, and nothing else that is invisible', () => {
    const partner =
      '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0915\u094d\u200d\u0937\u202e\u200b\u2028';
    const { subject, text, html } = magicLink(partner);
    const shown = partner.slice(0, -3);
    for (const part of [subject, text, html]) expect(part).toContain(shown);
    for (const part of [subject, text]) expect(part).toContain(`\u2068${shown}\u2069`);
    expect(html).toContain(`<bdi>${shown}</bdi>`);
    expect(subject + text + html).not.toMatch(/[\u202e\u200b\u2028]/);
  });

  test('by SMTP: Message-ID is ASCII, and the local part is as its owner typed it', async () => {
    const server = await startMailServer();
    const mailFrom = 'Loyalty <no-reply@b\u00fccher.example>';
    const { send: sendBySmtp } = openMailer({ smtpUrl: server.url, mailFrom, dataDir: '' });
    for (const to of ['Ada.L@M\u00dcNCHEN.example', '\u03a9\u03a3.\u0391@example.com'])
      await sendBySmtp(write('change', to, { link: LINK }), `job@${domainOf(mailFrom)}`);
    await server.down();
    // The mail server shows the domain decoded.
    expect(server.mails.map(({ messageId, recipients }) => [messageId, ...recipients])).toEqual([
      ['<job@xn--bcher-kva.example>', 'Ada.L@m\u00fcnchen.example'],
      ['<job@xn--bcher-kva.example>', '\u03a9\u03a3.\u0391@example.com'],
    ]);
  });

  test('mail loads nothing and tracks nobody: the link is its only URL', async () => {
    for (const email of [
      magicLink(),
      write('change', 'ada@example.com', { link: LINK, minutes: 15 }),
      write('changed', 'ada@example.com', { link: LINK, until: new Date('2026-03-11T05:06:07Z') }),
      write('undone', 'ada@example.com', { link: LINK, until: new Date('2026-03-11T05:06:07Z') }),
      write('invitation', 'ada@example.com', { partner: 'The Inn', link: LINK, days: 7 }),
    ]) {
      expect([...email.html.matchAll(/https?:[^"<\s]+/g)].map(String)).toEqual([LINK, LINK]);
      expect(email.html).not.toMatch(/<(img|link|script|iframe|style|object)|url\(|src=/i);
    }
  });

  test.each([
    ['a former address says when undoing', 'changed'],
    ['an address taken away says when contesting', 'undone'],
  ] as const)('the notice to %s ends, and names no address', (_, name) => {
    const email = write(name, 'ada@example.com', {
      link: LINK,
      until: new Date('2026-03-11T05:06:07Z'),
    });
    expect(email.text).toContain('2026-03-11 05:06 UTC');
    expect(email.text.match(/[\w.]+@[\w.]+/g)).toBeNull();
  });

  test("header injection: a partner's name with line breaks stays in the subject", async () => {
    const name = 'Inn\r\nBcc: eve@example.com\r\n\r\nBody\u2028x\u202eevil';
    const { subject } = write('invitation', 'ada@example.com', {
      partner: name,
      link: LINK,
      days: 7,
    });
    expect(subject).toBe('Inn Bcc: eve@example.com Body x evil invites you');
    const { mail } = await sent(magicLink(name));
    expect(mail.subject).toBe('Sign in to Inn Bcc: eve@example.com Body x evil');
    expect([mail.bcc ?? [], mail.to]).toEqual([[], [{ address: 'ada@example.com', name: '' }]]);
  });

  test("HTML injection: a partner's name is escaped", () => {
    const partner = `<img src=x onerror="alert('1')">&amp;`;
    const { html } = magicLink(partner);
    expect(html).not.toContain('<img');
    expect(html).toContain('&#60;img src=x onerror=&#34;alert(&#39;1&#39;)&#34;&#62;&#38;amp;');
  });

  test("whatever the partner's name, the mail has one recipient, one subject line and the text", async () => {
    const mailer = openMailer({ mailFrom: 'no-reply@api.example', dataDir: folder.path });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(anyText({ maxLength: 100 }), async (name) => {
        count += 1;
        await mailer.send(magicLink(name), `n${count}@x`);
        const file = readdirSync(outbox()).find((one) => one.endsWith(`_n${count}.eml`)) ?? '';
        const mail = await PostalMime.parse(readFileSync(join(outbox(), file)));
        expect(mail.to).toEqual([{ address: 'ada@example.com', name: '' }]);
        expect(
          mail.headers
            .map(({ key }) => key)
            .sort()
            .join(),
        ).toBe('auto-submitted,content-type,date,from,message-id,mime-version,subject,to');
        expect(mail.text).toContain(LINK);
      }),
      { numRuns: 60 },
    );
  });

  test('files are named in the order of time and readable by their owner only', async () => {
    await send(write('change', 'ada@example.com', { link: LINK, minutes: 15 }), 'one@x');
    await send(write('change', 'ada@example.com', { link: LINK, minutes: 15 }), 'two@x');
    const names = readdirSync(outbox()).sort();
    expect(names).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z_one\.eml$/),
      expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z_two\.eml$/),
    ]);
    for (const name of names) expect(statSync(join(outbox(), name)).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['https://inn.example/in', 'https://inn.example/in?token=T'],
    ['https://inn.example', 'https://inn.example/?token=T'],
    ['https://inn.example/in?a=b%20c&d', 'https://inn.example/in?a=b%20c&d&token=T'],
    ['https://inn.example/in?token=theirs&x=1', 'https://inn.example/in?x=1&token=T'],
    ['https://inn.example/in#/sign-in', 'https://inn.example/in?token=T#/sign-in'],
    ['https://api.example/loyalty/sign-in', 'https://api.example/loyalty/sign-in?token=T'],
  ])('the link to %s is %s', (page, link) => expect(linkTo(page, 'T')).toBe(link));

  test('a member who reads German gets German, with the same link, and an unknown language is English', () => {
    const words = { link: LINK, partner: 'The Inn', code: 'BCDF-GHJK', minutes: 15, days: 7 };
    const until = new Date('2026-03-11T05:06:07Z');
    // Cast: the keys of an object of this type.
    for (const name of Object.keys(EN) as (keyof typeof EN)[]) {
      const [german, english] = ['de', 'fr'].map((language) =>
        write(name, 'ada@example.com', { ...words, until }, language),
      );
      expect([german?.html, german?.text]).toEqual([
        expect.stringContaining('<html lang="de">'),
        expect.stringContaining(LINK),
      ]);
      expect(`${german?.subject} ${german?.text}`).not.toMatch(/\b(the|you|this)\b/);
      expect(english).toEqual(write(name, 'ada@example.com', { ...words, until }));
    }
    expect(write('changed', 'ada@example.com', { link: LINK, until }, 'de').text).toContain(
      'bis 2026-03-11 05:06 UTC.',
    );
  });

  test('the languages have the same texts, with the same placeholders', () => {
    for (const [english, german] of [
      [EN, DE],
      [PAGES_EN, PAGES_DE],
    ] as const)
      expect(placeholdersOf(german)).toEqual(placeholdersOf(english));
  });

  /** By the path of the text. */
  function placeholdersOf(texts: object): Record<string, string[]> {
    const entries = Object.entries(texts).flatMap(([key, text]) =>
      typeof text === 'object' && text !== null
        ? Object.entries(placeholdersOf(text)).map(([path, names]) => [`${key}.${path}`, names])
        : [[key, [...new Set(String(text).match(/\{\w+\}/g))].sort()]],
    );
    return Object.fromEntries(entries);
  }
});

// The mail worker with a real mail server: it loses no mail, sends none twice, gives up visibly.

const MINUTE = 60_000;

describe('the mail worker', () => {
  let place: Place;
  let store: MembersStore;
  let server: MailServer;
  let workers: ReturnType<typeof startMailWorker>[];
  let metrics: Metrics;
  let lines: (LogFields & { level: string; message: string })[];
  /** How many milliseconds the workers' clock is ahead. */
  let ahead: number;

  beforeEach(async () => {
    [place, server, workers, metrics, lines, ahead] = [
      newPlace(),
      await startMailServer(),
      [],
      createMetrics(),
      [],
      0,
    ];
    store = await place.open();
    const members = Array.from({ length: 10 }, (_, i) =>
      memberImport(`m${i}@example.com`, { enrollments: [{ partnerId: 'inn' }] }),
    );
    await store.importMembers(members);
  });
  afterEach(async () => {
    server.hold(undefined);
    await Promise.all(workers.map((worker) => worker.stop()));
    await server.down();
    await place.release();
  });

  const clock = () => Date.now() + ahead;
  const start = (on = store) => {
    const mailer = openMailer({
      smtpUrl: server.url,
      mailFrom: 'no-reply@api.example',
      dataDir: '/nowhere',
    });
    const sender = {
      store: on,
      mailer,
      baseAddress: 'https://api.example',
      mailDomain: 'api.example',
    };
    const worker = startMailWorker(sender, { log: recording(lines), metrics, now: clock });
    workers.push(worker);
    return worker;
  };
  const ask = async (i: number, jobId: string = randomUUID()) => {
    await store.outbox.add({
      jobId,
      task: { kind: 'magic-link', partnerId: 'inn', address: `m${i}@example.com` },
      requestedAt: clock(),
    });
    return jobId;
  };
  const counted = async (outcome: string) =>
    Number(
      new RegExp(`^loyalty_mail_total{letter="magic-link",outcome="${outcome}"} (\\d+)`, 'm').exec(
        await metrics.text(),
      )?.[1] ?? 0,
    );

  test('requested mail is sent to the member only, and its job is removed', async () => {
    const worker = start();
    const jobId = await ask(1);
    worker.wake();
    await until(() => server.mails.length > 0);
    expect(server.mails).toEqual([
      expect.objectContaining({
        recipients: ['m1@example.com'],
        messageId: `<${jobId}@api.example>`,
        subject: 'Sign in to inn',
      }),
    ]);
    await until(async () => (await counted('sent')) === 1);
    await worker.stop();
    expect(await store.outbox.claim(clock() + 60 * MINUTE, MINUTE)).toBeUndefined();
  });

  describe('exhaustion: mail that the mail server is slow to take', () => {
    const to = (email: string) => ({ typed: email, canonical: email });
    const add = (task: MailTask, owner?: string) =>
      store.outbox.add({ jobId: randomUUID(), task, requestedAt: clock(), owner });
    const kinds: Record<string, (owner: string, email: string) => Promise<void>> = {
      partner: (partnerId, email) => add({ kind: 'invitation', partnerId, address: to(email) }),
      member: (memberId, email) =>
        add({ kind: 'change', memberId, address: to(email) }, `partner of ${memberId}`),
      async client(client, email) {
        await store.importMembers([memberImport(email)]);
        const [signInId, address, requestedAt] = [randomUUID(), to(email), clock()];
        const signIn = { signInId, address, client, expiresAt: clock() + 9 * MINUTE, tries: 0 };
        const task: MailTask = { kind: 'code', signInId, address };
        const job = { jobId: randomUUID(), task, requestedAt, owner: client };
        await store.outbox.addWithin([], job, (tx) => store.signIns.begin(tx, signIn));
      },
    };
    beforeEach(async () => {
      await store.importMembers(
        ['one', 'other'].map((memberId) => memberImport(`${memberId}@example.com`, { memberId })),
      );
    });
    const isThere = (email: string) => () =>
      server.mails.some(({ recipients }) => recipients[0] === email);

    test.each(Object.entries(kinds))(
      'of one %s does not hold up that of another',
      async (_, ask) => {
        server.hold('@slow.test');
        start();
        for (let i = 0; i < 10; i += 1) await ask('one', `x${i}@slow.test`);
        await until(() => server.held.size === 2);
        await ask('other', 'x@example.com');
        await until(isThere('x@example.com'));
        expect(server.held.size).toBe(2);
        // Nothing else is claimed: it would wait in memory, perhaps beyond its claim.
        const others = [];
        for (let i = 0; i < 8; i += 1) others.push(await store.outbox.claim(clock(), MINUTE));
        expect(others).toEqual(Array(8).fill(expect.objectContaining({ attempts: 1 })));
        ahead += 2 * MINUTE;
        server.hold(undefined);
        await until(async () => (await store.outbox.waiting()).count === 0);
        expect(server.mails.length).toBe(11);
      },
    );

    /** Answers what is held once its domains are known. */
    async function known(suffix: string | undefined): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, 3_500));
      server.hold(suffix);
    }

    test('to a domain, once that is known, has one place and does not count as tried', async () => {
      server.hold('slow.co.uk');
      start();
      for (let i = 0; i < 6; i += 1) await kinds.partner?.('one', `x${i}@a${i}.slow.co.uk`);
      await until(() => server.held.size === 2);
      await known('slow.co.uk');
      await until(() => server.held.size === 1);
      await kinds.partner?.('one', 'x@example.co.uk');
      await until(isThere('x@example.co.uk'));
      expect(server.held.size).toBe(1);
      // What waits has written nothing.
      expect(await store.invitations.select(() => true)).toHaveLength(4);
      const later = clock() + MINUTE;
      const left = [];
      for (let i = 0; i < 3; i += 1) left.push(await store.outbox.claim(later, MINUTE));
      expect(left).toEqual(Array(3).fill(expect.objectContaining({ attempts: 1 })));
    });

    test('to many domains that are known leaves half of the places to others', async () => {
      const askAll = async (owner: string, emails: readonly string[]) => {
        for (const [i, email] of emails.entries()) await kinds.partner?.(owner + i, email);
      };
      const numbered = (domain: string) => Array.from({ length: 8 }, (_, i) => `x@a${i}.${domain}`);
      server.hold('.slow');
      start();
      await askAll('first', numbered('slow'));
      // Owners may share a queue.
      await until(() => server.held.size > 5);
      const slow = [...server.held.keys()];
      await known(undefined);
      await until(async () => (await store.outbox.waiting()).count === 0);
      server.hold('.slow');
      await askAll('second', slow);
      await until(() => server.held.size === 4);
      await askAll('third', numbered('example'));
      await until(() => server.mails.length > 12);
      expect(server.held.size).toBe(4);
    });

    test('of many partners, which has all their places, holds up nobody who waits for a code', async () => {
      server.hold('@slow.test');
      start();
      for (let i = 0; i < 20; i += 1) await kinds.partner?.(`p${i}`, `x${i}@slow.test`);
      await until(() => server.held.size === 8);
      await kinds.client?.('192.0.2.1', 'x@example.com');
      await until(isThere('x@example.com'));
      expect(server.held.size).toBe(8);
    });
  });

  test('a link that nobody has tried for an hour is given up, and an invitation is sent', async () => {
    const address = { typed: 'eve@example.com', canonical: 'eve@example.com' };
    const task: MailTask = { kind: 'invitation', partnerId: 'inn', address };
    await ask(1);
    await store.outbox.add({ jobId: 'i', task, requestedAt: clock() });
    ahead += 60 * MINUTE + 1;
    await ask(2);
    start();
    await until(() => server.mails.length === 2);
    await until(async () => (await store.outbox.waiting()).count === 0);
    const recipients = server.mails.flatMap((mail) => mail.recipients);
    expect(recipients.sort()).toEqual(['eve@example.com', 'm2@example.com']);
    expect(lines).toContainEqual({
      level: 'outage',
      message: 'an email was given up',
      reason: 'waited too long',
    });
  });

  test('spam: a mail that is one too many for a partner is counted, and not sent', async () => {
    await store.partners.put({ partnerId: 'inn', name: 'The Inn', invitations: 1 });
    const worker = start();
    for (const email of ['eve@example.com', 'fay@example.com']) {
      const address = { typed: email, canonical: email };
      const task = { kind: 'invitation', partnerId: 'inn', address } as const;
      await store.outbox.add({ jobId: randomUUID(), task, requestedAt: clock() });
    }
    worker.wake();
    const limited = 'loyalty_mail_limited_total{partner="inn"} 1\n';
    await until(async () => (await metrics.text()).includes(limited));
    await until(() => server.mails.length === 1);
  });

  test('mail that another process put into the outbox is sent without a wake-up', async () => {
    const other = await place.open();
    start(other);
    await ask(1);
    await until(() => server.mails.length === 1);
  });

  test('metrics show how much mail waits, and for how long the oldest', async () => {
    await server.down();
    await ask(1);
    ahead += MINUTE;
    await ask(2);
    start();
    const text = await metrics.text();
    expect(text).toContain('\nloyalty_mail_queue 2\n');
    expect(Number(/^loyalty_mail_oldest_seconds (.*)$/m.exec(text)?.[1])).toBeCloseTo(60, -1);
  });

  test('if a worker dies between claiming and sending, the job is sent when the lease ends', async () => {
    await ask(1);
    await store.outbox.claim(clock(), 2 * MINUTE);
    const worker = start();
    worker.wake();
    await ask(2);
    await until(() => server.mails.length === 1);
    expect(server.mails[0]?.recipients).toEqual(['m2@example.com']);
    ahead += 3 * MINUTE;
    worker.wake();
    await until(() => server.mails.length === 2);
    expect(server.mails[1]?.recipients).toEqual(['m1@example.com']);
  });

  test('mail that cannot be sent is given up after about an hour, counted, and logged without content', async () => {
    const givenUp = () => lines.filter(({ message }) => message === 'an email was given up');
    await server.down();
    const worker = start();
    await ask(1);
    let tries = 0;
    await until(async () => {
      worker.wake();
      if ((await counted('retried')) === tries) return (await store.outbox.failed()) > 0;
      tries += 1;
      // The pauses start at 2 seconds and double, up to 10 minutes.
      ahead += Math.min(1_000 * 2 ** tries, 10 * MINUTE);
      return false;
    });
    expect(ahead / MINUTE).toBeGreaterThan(50);
    expect(ahead / MINUTE).toBeLessThan(65);
    await until(async () => (await counted('failed')) === 1 && givenUp().length > 0);
    // An outage is expected: its lines, which the log counts together, have no stack.
    const message = expect.stringMatching(/^an email (was given up|could not be sent yet)$/);
    for (const line of lines)
      expect(line).toEqual({ level: 'outage', reason: 'ECONNREFUSED', message });
    expect(givenUp()).toHaveLength(1);
    await server.up();
    ahead += 60 * MINUTE;
    worker.wake();
    await ask(2);
    await until(() => server.mails.length === 1);
    expect(server.mails[0]?.recipients).toEqual(['m2@example.com']);
  });

  test('metrics are there without the queue if the outbox cannot be read', async () => {
    start();
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    await place.closeAll();
    const text = await metrics.text();
    expect(text).toContain('# TYPE loyalty_mail_queue gauge\n# HELP');
    expect(text).toContain('# TYPE loyalty_mail_oldest_seconds gauge\n# HELP');
  });

  test('permanently refused mail is given up at once; temporarily refused mail is tried again', async () => {
    const worker = start();
    server.refuse(550);
    await ask(1);
    worker.wake();
    await until(async () => (await store.outbox.failed()) === 1);
    server.refuse(451);
    await ask(2);
    worker.wake();
    await until(async () => (await counted('retried')) === 1);
    server.refuse(undefined);
    ahead += MINUTE;
    worker.wake();
    await until(() => server.mails.length === 1);
    expect(server.mails[0]?.recipients).toEqual(['m2@example.com']);
  });

  test('stopping waits for mail in progress', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, i) => ask(i)));
    const worker = start();
    await until(() => server.mails.length > 0);
    await worker.stop();
    const sent = server.mails.length;
    expect(await counted('sent')).toBe(sent);
    expect((await store.outbox.waiting()).count).toBe(8 - sent);
  });
});

function recording(lines: (LogFields & { level: string; message: string })[]): Log {
  const write = (level: string) => (fields: LogFields, message: string) =>
    void lines.push({ ...fields, level, message });
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
    outage: write('outage'),
    recovered: write('info'),
    refused: write('refused'),
    infoJson: () => {},
    flush: () => {},
  };
}
