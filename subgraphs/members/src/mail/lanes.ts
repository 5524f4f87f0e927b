// Shares what a process can send at the same time between those who cause mail.
import { createPlaces } from '@partner-loyalty/runtime/eventloop/places.ts';
import { isPartnersMail, type Job, type MailTask, type Outbox } from '../tables/outbox.ts';

/** The mails of a lane that are sent at the same time; a mail server takes up to 30 s for one. */
const PLACES = 8;
const PLACES_OF_OWNER = 4;
/** Claimed mails that wait for a place. All of a lane have one before their claims expire. */
const WAITING = 16;
const WAITING_OF_OWNER = 6;
/** How long a mail goes back to the outbox if too many of its owner wait. */
const BACK_MS = { least: 1_000, most: 30_000 };

export type Lane = ReturnType<typeof createLane>;

/** `freed` is called when the lane is no longer full. */
export function createLane(outbox: Pick<Outbox, 'putBack'>, freed: () => void) {
  const place = createPlaces({
    places: PLACES,
    ofOwner: PLACES_OF_OWNER,
    waiting: WAITING_OF_OWNER,
  });
  const held = new Set<Promise<void>>();
  const isFull = () => held.size >= PLACES + WAITING;

  async function handle(job: Job, now: number, signal: AbortSignal, send: () => Promise<void>) {
    const owner = ownerOf(job.task);
    const free = await place({ owner, signal }).catch(() => undefined);
    if (free === undefined) {
      const pause = Math.min((now - job.requestedAt) / 4, BACK_MS.most);
      return outbox.putBack(job, now + Math.max(pause, BACK_MS.least));
    }
    await send().finally(free);
  }

  return {
    isFull,
    /** Sends a claimed mail once it has a place. Rejects if it cannot be put back. */
    add(...job: Parameters<typeof handle>): Promise<void> {
      const handled = handle(...job).finally(() => {
        const wasFull = isFull();
        held.delete(handled);
        if (wasFull && !isFull()) freed();
      });
      held.add(handled);
      return handled;
    },
    /** Resolves when all has ended that is in the lane now. */
    empty: () => Promise.allSettled(held),
  };
}

/** The partner, or, of mail that a person waits for, the domain that the mail goes to. */
function ownerOf(task: MailTask): string {
  if (isPartnersMail(task)) return task.partnerId;
  if (task.kind === 'changed') return task.memberId;
  const address = typeof task.address === 'string' ? task.address : task.address.canonical;
  return address
    .slice(address.lastIndexOf('@') + 1)
    .split('.')
    .slice(-2)
    .join('.');
}
