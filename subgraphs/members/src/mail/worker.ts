// The mail worker: sends the mail in the outbox, when woken or once a second, and cleans it up.
import { startLoop } from '@partner-loyalty/runtime/eventloop/loop.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';
import { type Outbox, QUEUES } from '../tables/outbox.ts';
import { handleJob, type Sender } from './job.ts';
import { watchDomains } from './slow.ts';

const POLL_MS = 1_000;
/**
 * A random delay, so that the time of a response, this request's or another's, does not reveal
 * whether there was a recipient.
 */
const WAKE_DELAY_MS = { min: 50, spread: 200 };
/** How many mails of a kind are sent at the same time; a mail server takes up to 30 s for one. */
const PLACES = [
  { queues: QUEUES.codes, places: 12 },
  { queues: QUEUES.partners, places: 8 },
  { queues: QUEUES.changes, places: 8 },
];
/** Longer than it can take to deliver an email. */
const LEASE_MS = 120_000;
const CLEAN_INTERVAL_MS = 600_000;
const STOP_TIMEOUT_MS = 10_000;
/** The metrics read the store no more often than this, however often they are read. */
const FRESH_MS = 5_000;
const METRICS_TIMEOUT_MS = 1_000;

/** Several workers may share an outbox, in one process or in many. */
export function startMailWorker(
  sender: Sender,
  { log, metrics, now = Date.now }: { log: Log; metrics: Metrics; now?: () => number },
) {
  const { outbox, invitations, signIns, payloads, sandboxMails } = sender.store;
  const sending = new AbortController();
  const { mailer, createPlaces } = watchDomains(sender.mailer);
  const watched = { ...sender, mailer };
  const context = { sender: watched, outbox, log, metrics, now, sending: sending.signal };
  const running = new Set<Promise<void>>();
  // `taken` are the queues of what is being sent.
  const kinds = PLACES.map((kind) => ({
    ...kind,
    taken: [] as number[],
    takePlace: createPlaces(kind.places / 2),
  }));
  let delay: NodeJS.Timeout | undefined;
  let cleanedAt = Number.NEGATIVE_INFINITY;

  /**
   * Starts the next job that is due and has a place; resolves with whether there is one. A queue
   * has two places while half of them are free, and one beyond.
   */
  async function startNext(
    { queues, places, taken, takePlace }: (typeof kinds)[number],
    stopping: AbortSignal,
  ): Promise<boolean> {
    if (taken.length === places || stopping.aborted) return false;
    const most = taken.length < places / 2 ? 2 : 1;
    const accepts = (queue: number) => taken.filter((one) => one === queue).length < most;
    const job = await outbox.claim(now(), LEASE_MS, queues, accepts);
    if (job === undefined) return false;
    taken.push(job.queue);
    const run = handleJob(job, { ...context, takePlace, stopping }).finally(() => {
      taken.splice(taken.indexOf(job.queue), 1);
      running.delete(run);
      loop.wake();
    });
    running.add(run);
    return true;
  }

  /** Starts as many jobs as are due and have places, of each kind in turn. */
  async function claim(stopping: AbortSignal): Promise<void> {
    for (let isMore = true; isMore; ) {
      isMore = false;
      for (const kind of kinds) if (await startNext(kind, stopping)) isMore = true;
    }
  }

  async function cleanUp(): Promise<void> {
    if (now() - cleanedAt < CLEAN_INTERVAL_MS) return;
    cleanedAt = now();
    for (const store of [outbox, invitations, signIns, payloads, sandboxMails])
      await store.clean(cleanedAt);
  }

  async function work(stopping: AbortSignal): Promise<void> {
    clearTimeout(delay);
    delay = undefined;
    await claim(stopping);
    await cleanUp();
  }

  const loop = startLoop(work, {
    everyMs: POLL_MS,
    failed: (err) => log.outage({ err, store: 'members' }, 'the outbox cannot be read'),
    recovered: () => log.recovered({ store: 'members' }, 'the outbox is read again'),
  });
  loop.wake();
  watchQueue(outbox, metrics, now);

  return {
    /** Makes the worker check the outbox soon; otherwise it does so about once a second. */
    wake(): void {
      delay ??= setTimeout(loop.wake, WAKE_DELAY_MS.min + Math.random() * WAKE_DELAY_MS.spread);
    },
    /**
     * Claims no more jobs and waits up to 10 seconds for those in progress; what is not sent by
     * then is tried again later.
     */
    async stop(): Promise<void> {
      clearTimeout(delay);
      const timeout = setTimeout(() => sending.abort(), STOP_TIMEOUT_MS);
      await loop.stop();
      await Promise.all(running);
      clearTimeout(timeout);
    },
  };
}

/** Sets the metrics of waiting mail. While the outbox cannot be read, they have no value. */
function watchQueue(
  outbox: Pick<Outbox, 'waiting'>,
  metrics: Pick<Metrics, 'mailQueue' | 'mailOldest'>,
  now: () => number,
): void {
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<Awaited<ReturnType<Outbox['waiting']>> | undefined>;

  function waiting() {
    if (performance.now() - readAt < FRESH_MS) return reading;
    readAt = performance.now();
    reading = withTimeout(outbox.waiting(), METRICS_TIMEOUT_MS, 'no answer in time').catch(
      () => undefined,
    );
    return reading;
  }

  metrics.mailQueue(async () => {
    const queue = await waiting();
    return queue === undefined ? [] : [[{}, queue.count]];
  });
  metrics.mailOldest(async () => {
    const queue = await waiting();
    const since = queue?.oldestAt ?? now();
    return queue === undefined ? [] : [[{}, Math.max(0, now() - since) / 1_000]];
  });
}
