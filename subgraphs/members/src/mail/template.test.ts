// What letters say and cannot be made to say, and where their links lead.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { temporaryFolder } from '../../../../test/support/folder.ts';
import { hashToken, makeToken, TOKEN_USES, type TokenUse } from '../rules/token.ts';
import { linkTo, signInPage } from './link.ts';
import { openMailer } from './mailer.ts';
import { changedEmail, changeEmail, type Email, magicLinkEmail } from './template.ts';

const LINK = 'https://api.example/sign-in?token=ml_x';

describe('tokens', () => {
  test.each(Object.keys(TOKEN_USES) as TokenUse[])(
    'a token for %s carries 32 random bytes and is known by its hash',
    (use) => {
      const { token, hash } = makeToken(use);
      expect(Buffer.from(token.slice(3), 'base64url')).toHaveLength(32);
      expect(token.startsWith(TOKEN_USES[use].prefix)).toBe(true);
      expect(hashToken(use, token)).toBe(hash);
      expect(makeToken(use).token).not.toBe(token);
    },
  );

  test.each([
    '',
    'ml_',
    'ml_short',
    `ml_${'x'.repeat(44)}`,
    `ml_${'x'.repeat(42)}=`,
    `ec_${'x'.repeat(43)}`,
    `ml_${'x'.repeat(43)}\n`,
  ])('what cannot be a token is told without a look-up: %j', (text) =>
    expect(hashToken('sign-in', text)).toBeUndefined(),
  );
});

describe('links', () => {
  test.each([
    ['https://inn.example/in', 'https://inn.example/in?token=T'],
    ['https://inn.example', 'https://inn.example/?token=T'],
    ['https://inn.example/in?a=b%20c&d', 'https://inn.example/in?a=b%20c&d&token=T'],
    ['https://inn.example/in?token=theirs&x=1', 'https://inn.example/in?x=1&token=T'],
    ['https://inn.example/in#/sign-in', 'https://inn.example/in?token=T#/sign-in'],
    [signInPage('https://api.example/loyalty'), 'https://api.example/loyalty/sign-in?token=T'],
  ])('%s becomes %s', (page, link) => expect(linkTo(page, 'T')).toBe(link));
});

describe('letters', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  const outbox = () => join(folder.path, 'outbox');
  const send = (letter: Email, messageId = 'job@api.example') =>
    openMailer({ mailFrom: 'Loyalty <no-reply@api.example>', dataDir: folder.path }).send(
      letter,
      messageId,
    );
  const sent = async (letter: Email) => {
    await send(letter);
    const bytes = readFileSync(join(outbox(), readdirSync(outbox())[0] ?? ''));
    return { raw: bytes.toString('latin1'), mail: await PostalMime.parse(bytes) };
  };

  test('a magic link names the partner, the link and its lifetime, in text and in HTML', async () => {
    const { mail } = await sent(magicLinkEmail('ada@example.com', 'The Inn', LINK, 15));
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

  test('a link stands whole on a line of its own in the file, so that it can be copied out', async () => {
    const link = linkTo('http://localhost:4000/sign-in', makeToken('sign-in').token);
    expect(
      (await sent(magicLinkEmail('ada@example.com', 'The Inn', link, 15))).raw.split('\r\n'),
    ).toContain(link);
  });

  test('letters load nothing and track nobody: the only address in them is the link', async () => {
    for (const letter of [
      magicLinkEmail('ada@example.com', 'The Inn', LINK, 15),
      changeEmail('ada@example.com', LINK, 15),
      changedEmail('ada@example.com', LINK, new Date('2026-03-11T05:06:07Z')),
    ]) {
      expect([...letter.html.matchAll(/https?:[^"<\s]+/g)].map(String)).toEqual([LINK, LINK]);
      expect(letter.html).not.toMatch(/<(img|link|script|iframe|style|object)|url\(|src=/i);
    }
  });

  test('the notice to a former address says until when the change can be undone, and not what the new address is', () => {
    const letter = changedEmail('ada@example.com', LINK, new Date('2026-03-11T05:06:07Z'));
    expect(letter.text).toContain('Wed, 11 Mar 2026 05:06:07 GMT');
    expect(letter.text.match(/[\w.]+@[\w.]+/g)).toBeNull();
  });

  test("header injection: a partner's name with line breaks stays in the subject", async () => {
    const { mail } = await sent(
      magicLinkEmail(
        'ada@example.com',
        'Inn\r\nBcc: eve@example.com\r\n\r\nBody\u2028x\u202eevil',
        LINK,
        15,
      ),
    );
    expect(mail.subject).toBe('Sign in to Inn Bcc: eve@example.com Body x evil');
    expect([mail.bcc ?? [], mail.to]).toEqual([[], [{ address: 'ada@example.com', name: '' }]]);
  });

  test("HTML injection: a partner's name is text", () => {
    const { html } = magicLinkEmail(
      'ada@example.com',
      `<img src=x onerror="alert('1')">&amp;`,
      LINK,
      15,
    );
    expect(html).not.toContain('<img');
    expect(html).toContain('&#60;img src=x onerror=&#34;alert(&#39;1&#39;)&#34;&#62;&#38;amp;');
  });

  test('whatever a partner is called, the mail has one recipient, one subject line and the text', async () => {
    const post = openMailer({ mailFrom: 'no-reply@api.example', dataDir: folder.path });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 100 }), async (name) => {
        count += 1;
        await post.send(magicLinkEmail('ada@example.com', name, LINK, 15), `n${count}@x`);
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

  test('addresses beyond ASCII arrive as they are', async () => {
    const { mail } = await sent(changeEmail('jürgen@xn--bcher-kva.example', LINK, 15));
    expect(mail.to?.[0]?.address).toMatch(/^jürgen@(xn--bcher-kva|bücher)\.example$/);
  });

  test('files appear whole, in the order of time, readable by their owner alone', async () => {
    await send(changeEmail('ada@example.com', LINK, 15), 'one@x');
    await send(changeEmail('ada@example.com', LINK, 15), 'two@x');
    const names = readdirSync(outbox()).sort();
    expect(names).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z_one\.eml$/),
      expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z_two\.eml$/),
    ]);
    for (const name of names) expect(statSync(join(outbox(), name)).mode & 0o777).toBe(0o600);
  });
});
