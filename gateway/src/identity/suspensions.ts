// Finds out whether the partner that holds a member's token is suspended.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { createFreshRecords } from './freshrecords.ts';
import type { KeyStore } from './keystore.ts';

/** Measured (test/memory), with ids of 128 characters. */
const BYTES_PER_PARTNER = 512;

/** By the partner's ID. As current as a key, and fails as the look-up of one does. */
export type IsSuspended = (partnerId: string) => MaybePromise<boolean>;

/** `uptime` counts milliseconds and never jumps. */
export function createSuspensions(
  store: Pick<KeyStore, 'partner'>,
  caches: Caches,
  log: Pick<Log, 'outage'>,
  uptime: () => number = () => performance.now(),
): IsSuspended {
  // A partner that does not exist is kept too, since a token can name it all the same.
  const find = async (partnerId: string) => ({
    isSuspended: (await store.partner(partnerId))?.suspendedAt !== undefined,
  });
  const weigh = () => BYTES_PER_PARTNER;
  const partners = createFreshRecords({ find, weigh, caches, uptime, log }, () => {});
  return (partnerId) => mapMaybe(partners.find(partnerId), (found) => found?.isSuspended === true);
}
