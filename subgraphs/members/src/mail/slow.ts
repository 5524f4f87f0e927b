// Domains whose mail the mail server is slow to take, so that they hold one place alone.
import type { Mailer } from './mailer.ts';

/** Well above what a mail takes, unless the server asks the recipient's first. */
const SLOW_MS = 3_000;
const REMEMBERED_MS = 300_000;
const MAX_REMEMBERED = 10_000;

/** Mail to a slow domain is being sent: this one has to wait. */
export const CROWDED = new Error('another mail to a slow domain is being sent');

/** Rejects with CROWDED, and sends nothing, while another mail to the same slow domain is sent. */
export function withSlowDomains({ send }: Mailer): Mailer {
  /** Until when each is taken for one. */
  const slow = new Map<string, number>();
  const sending = new Map<string, number>();
  const count = (domain: string, by: 1 | -1) => {
    const left = (sending.get(domain) ?? 0) + by;
    if (left > 0) sending.set(domain, left);
    else sending.delete(domain);
  };
  const remember = (domain: string) => {
    if (slow.size >= MAX_REMEMBERED) slow.clear();
    slow.set(domain, performance.now() + REMEMBERED_MS);
  };
  return {
    async send(email, ...more) {
      const domain = siteOf(email.to);
      const isSlow = (slow.get(domain) ?? 0) > performance.now();
      if (isSlow && sending.has(domain)) throw CROWDED;
      const timer = setTimeout(() => remember(domain), SLOW_MS);
      count(domain, 1);
      try {
        await send(email, ...more);
      } finally {
        clearTimeout(timer);
        count(domain, -1);
      }
    },
  };
}

/** Without what whoever has a domain can put before it. */
function siteOf(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  return domain.split('.').slice(-2).join('.');
}
