// A mail server for tests, which accepts mail, rejects it, or is down.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

export type MailServer = {
  /** Stays the same while the server is down. */
  url: string;
  /** What has arrived, oldest first; `recipients` are those of the envelope. */
  mails: (Email & { recipients: string[] })[];
  /** Rejects all mail from now on with an SMTP reply code, or accepts it again if undefined. */
  refuse(code: number | undefined): void;
  /** Leaves recipients of a domain without an answer from now on, or answers all if undefined. */
  hold(domain: string | undefined): void;
  /** Those that have no answer yet. */
  held: ReadonlyMap<string, unknown>;
  down(): Promise<void>;
  up(): Promise<void>;
};

/** Starts it on a free port of 127.0.0.1. */
export async function startMailServer(): Promise<MailServer> {
  const mails: MailServer['mails'] = [];
  let refusal: number | undefined;
  let slow: string | undefined;
  const held = new Map<string, () => void>();
  let server: SMTPServer | undefined;

  async function receive(message: Buffer, recipients: string[]): Promise<void> {
    mails.push({ ...(await PostalMime.parse(message)), recipients });
  }

  async function up(port: number): Promise<number> {
    server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo({ address }, _session, callback) {
        if (slow !== undefined && address.endsWith(slow)) held.set(address, callback);
        else callback();
      },
      onData(stream, session, callback) {
        const parts: Buffer[] = [];
        stream.on('data', (part: Buffer) => parts.push(part));
        stream.on('end', () => {
          if (refusal !== undefined)
            return callback(Object.assign(new Error('refused'), { responseCode: refusal }));
          const recipients = session.envelope.rcptTo.map(({ address }) => address);
          receive(Buffer.concat(parts), recipients).then(() => callback(), callback);
        });
      },
    });
    server.listen(port, '127.0.0.1');
    await once(server.server, 'listening');
    // Cast: a server that listens on a port has such an address.
    return (server.server.address() as AddressInfo).port;
  }

  const port = await up(0);
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    held,
    refuse(code) {
      refusal = code;
    },
    hold(domain) {
      slow = domain;
      for (const answer of held.values()) answer();
      held.clear();
    },
    down: () => new Promise((resolve) => (server ? server.close(() => resolve()) : resolve())),
    up: async () => void (await up(port)),
  };
}

/** The token in an email's link, or 'none'. */
export function tokenIn(text: string | undefined): string {
  return /[?&]token=([\w-]+)/.exec(text ?? '')?.[1] ?? 'none';
}

/** The code in an email, or 'none'. */
export function codeIn(text: string | undefined): string {
  return /\b([B-Z]{4}-[B-Z]{4})\b/.exec(text ?? '')?.[1] ?? 'none';
}
