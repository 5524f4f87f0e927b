// The worker that sends what the outbox holds: wakes when something is added, retries what fails, and gives up visibly.
import { setTimeout } from 'node:timers/promises';
import type { Log, Metrics } from '@partner-loyalty/runtime';
import type { Job } from '../outbox/outbox.ts';
import { deliver, type Sender } from './deliver.ts';
import { isRefused } from './mailer.ts';

const POLL_MS = 1_000;
/**
 * A job waits a moment of random length, so that neither the answer to the request it came from nor any other tells by its time whether there
 * was somebody to write to.
 */
const MOMENT_MS = { least: 50, more: 200 };
const AT_ONCE = 8;
/** Longer than handing a letter over can take. */
const LEASE_MS = 120_000;
const EARLY_MS = 2_000;
/** With the pauses between them, about an hour. */
const MAX_ATTEMPTS = 14;
const LONGEST_PAUSE_MS = 600_000;
const CLEAN_MS = 600_000;
const STOPPING_MS = 10_000;

export type MailWorker = {
  /** Has the outbox looked at soon; without it that happens about once a second. */
  wake(): void;
  /** Claims nothing more and waits for what is under way, for 10 seconds at most; what is not handed over by then is tried again later. */
  stop(): Promise<void>;
};

/** Several of them may work on one outbox, in one process or in many. */
export function startMailWorker(
  sender: Sender,
  { log, metrics, now = Date.now }: { log: Log; metrics: Metrics; now?: () => number },
): MailWorker {
  const { outbox } = sender.store;
  const stopping = new AbortController();
  const cut = new AbortController();
  const underWay = new Set<Promise<void>>();
  let called = false;
  let resume = () => {};
  let awake: NodeJS.Timeout | undefined;
  let cleanedAt = Number.NEGATIVE_INFINITY;

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await claimAll();
        await cleanUp();
      } catch (err) {
        log.warn({ err, store: 'members' }, 'the outbox cannot be read');
      }
      await pause();
    }
  }

  async function claimAll(): Promise<void> {
    while (underWay.size < AT_ONCE && !stopping.signal.aborted) {
      const job = await outbox.claim(now(), LEASE_MS);
      if (job === undefined) return;
      const handling = handle(job).finally(() => {
        underWay.delete(handling);
        // There may be more than could be claimed at once.
        if (underWay.size === AT_ONCE - 1) rouse();
      });
      underWay.add(handling);
    }
  }

  /** Never rejects. Where the outbox is away, the claim ends by itself and the job is taken up again. */
  async function handle(job: Job): Promise<void> {
    const letter = job.errand.kind;
    try {
      // More claims than tries: those before ended without a word, by a crash perhaps.
      const outcome =
        job.attempts > MAX_ATTEMPTS ? 'failed' : await deliver(job, sender, now(), cut.signal);
      if (outcome === 'failed') return await giveUp(job, undefined);
      if (outcome === 'early') return await outbox.postpone(job, now() + EARLY_MS);
      metrics.mail(letter, outcome);
      await settle(job);
    } catch (err) {
      await (isRefused(err) || job.attempts >= MAX_ATTEMPTS
        ? giveUp(job, err)
        : retry(job, err)
      ).catch(noteAway);
    }
  }

  /** A letter that is out must not go out again because the outbox was away for a moment. */
  async function settle(job: Job): Promise<void> {
    for (;;) {
      try {
        return await outbox.finish(job);
      } catch (err) {
        noteAway(err);
        if (now() + EARLY_MS >= job.dueAt || stopping.signal.aborted) return;
        await setTimeout(EARLY_MS);
      }
    }
  }

  async function retry(job: Job, err: unknown): Promise<void> {
    log.warn({ err, reason: job.errand.kind, count: job.attempts }, 'a mail could not be sent yet');
    metrics.mail(job.errand.kind, 'retried');
    await outbox.postpone(job, now() + Math.min(1_000 * 2 ** job.attempts, LONGEST_PAUSE_MS));
  }

  async function giveUp(job: Job, err: unknown): Promise<void> {
    metrics.mail(job.errand.kind, 'failed');
    await outbox.giveUp(job, now());
    log.error(
      { err, reason: job.errand.kind, count: await outbox.failed() },
      'a mail was given up; so many are kept as failed',
    );
  }

  async function cleanUp(): Promise<void> {
    if (now() - cleanedAt < CLEAN_MS) return;
    cleanedAt = now();
    await outbox.clean(now());
  }

  function noteAway(err: unknown): void {
    log.warn({ err, store: 'members' }, 'the outbox cannot be written');
  }

  /** Ends the pause, or has the next one end at once. */
  function rouse(): void {
    called = true;
    resume();
  }

  async function pause(): Promise<void> {
    const timer = new AbortController();
    const roused = new Promise<void>((resolve) => {
      resume = resolve;
    });
    if (!called)
      await Promise.race([
        roused,
        setTimeout(POLL_MS, undefined, { signal: timer.signal }).catch(() => {}),
      ]);
    timer.abort();
    called = false;
  }

  const working = work();

  return {
    wake() {
      awake ??= globalThis.setTimeout(
        () => {
          awake = undefined;
          rouse();
        },
        MOMENT_MS.least + Math.random() * MOMENT_MS.more,
      );
    },
    async stop() {
      stopping.abort();
      clearTimeout(awake);
      rouse();
      const deadline = globalThis.setTimeout(() => cut.abort(), STOPPING_MS);
      await working;
      await Promise.all(underWay);
      clearTimeout(deadline);
    },
  };
}
