// Sends mail: through a mail server, or, without one, as .eml files in a folder.
import { existsSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { domainToASCII } from 'node:url';
import { getSystemErrorMap } from 'node:util';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { makeFolder, makePrivateFolder } from '@partner-loyalty/runtime/store/private.ts';
import type { Email } from './template.ts';

export type Mailer = {
  /**
   * Resolves when the email is accepted for good. A retry has the same `messageId`, so that
   * mailboxes recognize a duplicate. Rejects if the email is not accepted within 30 seconds or
   * `signal` aborts; then it may or may not have arrived.
   */
  send(email: Email, messageId: string, signal?: AbortSignal): Promise<void>;
};

const SENDING_MS = 30_000;
const TIMEOUTS = {
  dnsTimeout: 5_000,
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 20_000,
};

/**
 * Uses the mail server at SMTP_URL; without one, files in `DATA_DIR/outbox`, named by the time they
 * are written.
 */
export function openMailer({
  smtpUrl,
  mailFrom,
  dataDir,
}: Pick<Settings, 'smtpUrl' | 'mailFrom' | 'dataDir'>): Mailer {
  return smtpUrl === undefined ? openFolder(dataDir, mailFrom) : openServer(smtpUrl, mailFrom);
}

/** nodemailer's codes for a server that does not accept mail, or not from us (its errors.js). */
const SERVER_CODES =
  /^E(CONNECTION|TIMEDOUT|SOCKET|DNS|TLS|PROTOCOL|ENVELOPE|MESSAGE|ABORT|AUTH|NOAUTH|PROXY)$/;

/** The domain of a sender, with or without a display name, in ASCII. */
export function domainOf(mailFrom: string): string {
  return domainToASCII(/@([^@>]+)>?$/.exec(mailFrom)?.[1] ?? '') || 'localhost';
}

/**
 * Whether a mail server has refused an email for good, so that sending it again is useless (RFC
 * 5321, section 4.2.1).
 */
export function isRefused(error: unknown): boolean {
  const { code, responseCode = 0 } = error as { code?: unknown; responseCode?: number };
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500;
}

/**
 * Why the mail server, or the way to it, did not accept an email: a code of the system or of
 * nodemailer. Undefined if something else has failed.
 */
export function mailFault(error: unknown): string | undefined {
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  if (typeof code !== 'string' || !SERVER_CODES.test(code)) return undefined;
  // nodemailer replaces the code of the system, which says more, by ESOCKET or EDNS.
  const [system] = getSystemErrorMap().get(Number(errno)) ?? [];
  return system ?? code;
}

/** Signs in to the mail server, and sends nothing. Rejects within 20 seconds if it cannot. */
export async function checkMailServer(url: string): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const each = Object.fromEntries(Object.keys(TIMEOUTS).map((name) => [name, 5_000]));
  await createTransport({ url, ...each }).verify();
}

function openServer(url: string, from: string): Mailer {
  return {
    async send(email, messageId, signal) {
      const deadline = AbortSignal.timeout(SENDING_MS);
      // It takes a while to load: most processes send no mail.
      const { createTransport } = await import('nodemailer');
      await createTransport({ url, ...TIMEOUTS }).sendMail({
        ...message(email, messageId, from),
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      });
    },
  };
}

function openFolder(dataDir: string, from: string): Mailer {
  const folder = join(dataDir, 'outbox');
  // The first mail creates it. One that exists may be open for everyone to read.
  if (existsSync(folder)) makePrivateFolder(dataDir, 'outbox');
  return {
    async send(email, messageId) {
      const { createTransport } = await import('nodemailer');
      const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
      const composed = await composer.sendMail(message(email, messageId, from, true));
      const time = new Date().toISOString().replaceAll(':', '-');
      const name = `${time}_${messageId.split('@')[0]}.eml`;
      // Cast: with `buffer`, as above, the message is a Buffer.
      await writeWhole(folder, name, composed.message as Buffer);
    },
  };
}

/**
 * Writes a file that appears complete or not at all. Only its owner may read it, since it contains
 * a token.
 */
async function writeWhole(folder: string, name: string, bytes: Buffer): Promise<void> {
  makeFolder(folder, 0o700);
  const partial = join(folder, `.${name}.part`);
  const file = await open(partial, 'w', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, join(folder, name));
}

function message(
  { to, subject, text, html }: Email,
  messageId: string,
  from: string,
  isFile = false,
) {
  return {
    from,
    to: { name: '', address: to },
    subject,
    text: unencoded(text, isFile),
    html,
    messageId: `<${messageId}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

// Quoted-printable would break a link of more than 76 characters, which could then not be copied
// from an .eml file. Unencoded lines may have 998 (RFC 5322, section 2.1.1).
function unencoded(text: string, isFile: boolean) {
  const isAscii = /^(?:[\x20-\x7e]{0,998}\n)*$/.test(text);
  // Not every mail server takes eight bits.
  if (!isAscii && !isFile) return text;
  const [charset, encoding] = isAscii ? ['us-ascii', '7bit'] : ['utf-8', '8bit'];
  const head = `Content-Type: text/plain; charset=${charset}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`;
  return { raw: head + text.replaceAll('\n', '\r\n') };
}
