// A mail server for tests: takes mail, refuses it, or is down.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

export type MailServer = {
  /** Stays the same while the server is down. */
  url: string;
  /** What has arrived, oldest first; `recipients` are those of the envelope. */
  mails: (Email & { recipients: string[] })[];
  /** What it says to the next mails: a reply code of SMTP, or undefined to take them. */
  refuse(code: number | undefined): void;
  down(): Promise<void>;
  up(): Promise<void>;
};

export async function startMailServer(): Promise<MailServer> {
  const mails: MailServer['mails'] = [];
  let refusal: number | undefined;
  let server: SMTPServer | undefined;

  async function up(port: number): Promise<number> {
    server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData(stream, session, callback) {
        const parts: Buffer[] = [];
        stream.on('data', (part: Buffer) => parts.push(part));
        stream.on('end', async () => {
          if (refusal !== undefined)
            return callback(Object.assign(new Error('refused'), { responseCode: refusal }));
          const mail = await PostalMime.parse(Buffer.concat(parts));
          mails.push({
            ...mail,
            recipients: session.envelope.rcptTo.map(({ address }) => address),
          });
          callback();
        });
      },
    });
    server.listen(port, '127.0.0.1');
    await once(server.server, 'listening');
    // A server that listens on a port has such an address.
    return (server.server.address() as AddressInfo).port;
  }

  const port = await up(0);
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    refuse(code) {
      refusal = code;
    },
    down: () => new Promise((resolve) => (server ? server.close(() => resolve()) : resolve())),
    up: async () => void (await up(port)),
  };
}

/** The token in a letter's link. */
export function tokenIn(text: string | undefined): string {
  return /[?&]token=([\w-]+)/.exec(text ?? '')?.[1] ?? 'none';
}
