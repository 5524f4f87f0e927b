// Hands letters over: to a mail server, or into a folder of .eml files where there is none.
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '@partner-loyalty/runtime';
import { createTransport } from 'nodemailer';
import type { Email } from './template.ts';

export type Mailer = {
  /**
   * Resolves once the letter is taken over for good. `messageId` stays the same when a letter is sent again, so that mailboxes can tell.
   * Rejects when it is not taken over within 30 seconds, or `signal` aborts; then it may or may not have arrived.
   */
  send(letter: Email, messageId: string, signal?: AbortSignal): Promise<void>;
};

const SENDING_MS = 30_000;
const TIMEOUTS = {
  dnsTimeout: 5_000,
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 20_000,
};

/** A mail server where SMTP_URL is set, else files in `DATA_DIR/outbox`, each named by the time it was written. */
export function openMailer({
  smtpUrl,
  mailFrom,
  dataDir,
}: Pick<Settings, 'smtpUrl' | 'mailFrom' | 'dataDir'>): Mailer {
  return smtpUrl === undefined
    ? openFolder(join(dataDir, 'outbox'), mailFrom)
    : openServer(smtpUrl, mailFrom);
}

/** Whether a mail server has refused a letter for good, so that sending it again is no use (RFC 5321, section 4.2.1). */
export function isRefused(error: unknown): boolean {
  const { code, responseCode = 0 } = error as { code?: unknown; responseCode?: number };
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500;
}

function openServer(url: string, from: string): Mailer {
  const server = createTransport({ url, ...TIMEOUTS });
  return {
    async send(letter, messageId, signal) {
      const deadline = AbortSignal.timeout(SENDING_MS);
      await server.sendMail({
        ...message(letter, messageId, from),
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      });
    },
  };
}

function openFolder(folder: string, from: string): Mailer {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    async send(letter, messageId) {
      const { message: bytes } = await composer.sendMail(message(letter, messageId, from));
      // A Buffer, as asked for above.
      await writeWhole(
        folder,
        `${new Date().toISOString().replaceAll(':', '-')}_${messageId.split('@')[0]}.eml`,
        bytes as Buffer,
      );
    },
  };
}

/** The file is there whole or not at all; only its owner may read it, since it holds a token. */
async function writeWhole(folder: string, name: string, bytes: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const aside = join(folder, `.${name}.part`);
  const file = await open(aside, 'w', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(aside, join(folder, name));
}

function message({ to, subject, text, html }: Email, messageId: string, from: string) {
  return {
    from,
    to: { name: '', address: to },
    subject,
    text: asItIs(text),
    html,
    messageId: `<${messageId}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

// Quoted-printable would cut up a link of over 76 characters; as it is, it can be copied out of an .eml file. Lines may have 998 (RFC 5322, section 2.1.1).
function asItIs(text: string) {
  if (!/^(?:[\x20-\x7e]{0,998}\n)*$/.test(text)) return text;
  const head =
    'Content-Type: text/plain; charset=us-ascii\r\nContent-Transfer-Encoding: 7bit\r\n\r\n';
  return { raw: head + text.replaceAll('\n', '\r\n') };
}
