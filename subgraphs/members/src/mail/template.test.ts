// Email templates and the mailer: what mail says, and what nobody can make it say.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import PostalMime from 'postal-mime';
import PAGES_DE from '../../../../runtime/src/pages/languages/de.json' with { type: 'json' };
import PAGES_EN from '../../../../runtime/src/pages/languages/en.json' with { type: 'json' };
import { temporaryFolder } from '../../../../test/support/folder.ts';
import { startMailServer } from '../../../../test/support/servers/mailserver.ts';
import { anyText } from '../../../../test/support/text.ts';
import { makeToken } from '../rules/mailedtoken.ts';
import DE from './letters/de.json' with { type: 'json' };
import EN from './letters/en.json' with { type: 'json' };
import { domainOf, openMailer } from './mailer.ts';
import { type Email, linkTo, write } from './template.ts';

const LINK = 'https://api.example/sign-in?token=ml_x';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

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
  const { mail } = await sent(
    write('magicLink', 'ada@example.com', { partner: 'The Inn', link: LINK, minutes: 15 }),
  );
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

test.each(['en', 'de'])('a link is on one line of the file, to be copied: %s', async (language) => {
  const link = linkTo('http://localhost:4000/sign-in', makeToken('sign-in').token);
  expect(
    (
      await sent(write('magicLink', 'ada@example.com', { partner: 'The Inn', link }, language))
    ).raw.split('\r\n'),
  ).toContain(link);
});

test('a name keeps the joiners that its script needs, and nothing else that is invisible', () => {
  const partner =
    '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0915\u094d\u200d\u0937\u202e\u200b\u2028';
  const { subject, text, html } = write('magicLink', 'ada@example.com', { partner, link: LINK });
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
    write('magicLink', 'ada@example.com', { partner: 'The Inn', link: LINK, minutes: 15 }),
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
  expect(email.text).toContain('Wed, 11 Mar 2026 05:06:07 GMT');
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
  const { mail } = await sent(
    write('magicLink', 'ada@example.com', { partner: name, link: LINK, minutes: 15 }),
  );
  expect(mail.subject).toBe('Sign in to Inn Bcc: eve@example.com Body x evil');
  expect([mail.bcc ?? [], mail.to]).toEqual([[], [{ address: 'ada@example.com', name: '' }]]);
});

test("HTML injection: a partner's name is escaped", () => {
  const partner = `<img src=x onerror="alert('1')">&amp;`;
  const { html } = write('magicLink', 'ada@example.com', { partner, link: LINK, minutes: 15 });
  expect(html).not.toContain('<img');
  expect(html).toContain('&#60;img src=x onerror=&#34;alert(&#39;1&#39;)&#34;&#62;&#38;amp;');
});

test("whatever the partner's name, the mail has one recipient, one subject line and the text", async () => {
  const mailer = openMailer({ mailFrom: 'no-reply@api.example', dataDir: folder.path });
  let count = 0;
  await fc.assert(
    fc.asyncProperty(anyText({ maxLength: 100 }), async (name) => {
      count += 1;
      await mailer.send(
        write('magicLink', 'ada@example.com', { partner: name, link: LINK, minutes: 15 }),
        `n${count}@x`,
      );
      const file = readdirSync(outbox()).find((one) => one.endsWith(`_n${count}.eml`)) ?? '';
      const mail = await PostalMime.parse(readFileSync(join(outbox(), file)));
      expect(mail.to).toEqual([{ address: 'ada@example.com', name: '' }]);
      expect(mail.headers.map(({ key }) => key).sort()).toEqual(
        [
          'auto-submitted',
          'content-type',
          'date',
          'from',
          'message-id',
          'mime-version',
          'subject',
          'to',
        ].sort(),
      );
      expect(mail.text).toContain(LINK);
    }),
    { numRuns: 60 },
  );
});

test("an address beyond ASCII is the recipient's address", async () => {
  const { mail } = await sent(
    write('change', 'jürgen@xn--bcher-kva.example', { link: LINK, minutes: 15 }),
  );
  expect(mail.to?.[0]?.address).toMatch(/^jürgen@(xn--bcher-kva|bücher)\.example$/);
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
    '11. März 2026',
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
