// Finds out whether the partner that holds a member's token is suspended.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { createFreshRecords } from './freshrecords.ts';
import type { KeyStore, Partner } from './keystore.ts';

/** Measured (test/memory), with ids of 128 characters. */
const BYTES_PER_PARTNER = 512;

/** By the partner's ID. As current as a key, and fails as the look-up of one does. */
export type IsSuspended = (partnerId: string) => MaybePromise<boolean>;

type Found = { isSuspended: boolean };

/** `uptime` counts milliseconds and never jumps. */
export function createSuspensions(
  store: Pick<KeyStore, 'partner'>,
  caches: Caches,
  log: Pick<Log, 'outage'>,
  uptime: () => number = () => performance.now(),
): IsSuspended {
  const find = (partnerId: string) => store.partner(partnerId).then(foundOf);
  const weigh = () => BYTES_PER_PARTNER;
  const partners = createFreshRecords<Found>({ find, weigh, caches, uptime, log }, () => {});
  return (partnerId) => mapMaybe(partners.find(partnerId), isSuspended);
}

/** A partner that does not exist is kept too, since a token can name it all the same. */
function foundOf(partner: Partner | undefined): Found {
  return { isSuspended: partner?.suspendedAt !== undefined };
}

function isSuspended(found: Found | undefined): boolean {
  return found?.isSuspended === true;
}
