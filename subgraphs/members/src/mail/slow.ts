// Domains whose mail the mail server is slow to take, so that they hold few of the places.
import { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
import { getDomain } from 'tldts';
import type { Mailer } from './mailer.ts';

/** Well above what a mail takes, unless the server asks the recipient's first. */
const SLOW_MS = 3_000;
const REMEMBERED_MS = 300_000;
const MAX_REMEMBERED = 10_000;

/** Takes a place for mail to the address, to be left; undefined if it waits for a slow domain's. */
export type TakePlace = (to: string) => (() => void) | undefined;

/** The mailer, by which slow domains become known, and the places of a kind of mail. */
export function watchDomains({ send }: Mailer) {
  /** Until when each is taken for one. */
  const slow = new Map<string, number>();
  const isSlow = (domain: string) => (slow.get(domain) ?? 0) > performance.now();
  const remember = (domain: string) => {
    if (slow.size >= MAX_REMEMBERED) slow.clear();
    slow.set(domain, performance.now() + REMEMBERED_MS);
  };
  const mailer: Mailer = {
    async send(email, ...more) {
      const timer = setTimeout(() => remember(siteOf(email.to)), SLOW_MS);
      try {
        await send(email, ...more);
      } finally {
        clearTimeout(timer);
      }
    },
  };
  return {
    mailer,
    /** A slow domain has one place, and all together have `most`. */
    createPlaces(most: number): TakePlace {
      /** The domains of what is being delivered. */
      const taken: string[] = [];
      return (to) => {
        const domain = siteOf(to);
        const isFull = () => taken.includes(domain) || taken.filter(isSlow).length >= most;
        if (isSlow(domain) && isFull()) return undefined;
        taken.push(domain);
        return () => void taken.splice(taken.indexOf(domain), 1);
      };
    },
  };
}

/** Without what whoever has a domain can put before it. */
function siteOf(address: string): string {
  const canonical = canonicalEmail(address) ?? address;
  const domain = canonical.slice(canonical.lastIndexOf('@') + 1);
  return getDomain(domain, { allowPrivateDomains: true }) ?? domain;
}
