// A process that records activities at random and gives positions to events until it is killed.
import { writeSync } from 'node:fs';
import { seeded } from '../../../test/support/cases/operations.ts';
import { createSequencer } from '../src/events/sequencer.ts';
import { openStandingsStore } from '../src/index.ts';
import { activity, inYear, memberEvents } from './engine.ts';

const [settings = '{}', name = '', seed = '0'] = process.argv.slice(2);
const store = await openStandingsStore({ ...JSON.parse(settings), environment: 'sandbox' });
const random = seeded(Number(seed));
const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;

/** Records one batch after the other; the IDs say the process, the batch and the year. */
async function record(lane: number): Promise<void> {
  for (let number = 1; ; number += 1) {
    const batch = Array.from({ length: pick([1, 1, 3, 20]) }, (_, index) => {
      const year = pick(['this', 'last'] as const);
      const change = { memberId: pick(['ada', 'bob', `own-${name}`]), ...inYear(year) };
      return activity(
        `${name}/${lane}/${number}/${year}/${index}`,
        Math.floor(random() * 200) - 100,
        change,
      );
    });
    await store.record(batch);
    // Not by process.stdout, which may write later.
    writeSync(1, batch.map(({ activityId }) => `${activityId}\n`).join(''));
  }
}

// The lease of each process before it has ended, by this clock.
const now = () => Date.now() + Number(name) * 20_000;
const members = {
  pendingEvents: async () => memberEvents(),
  acknowledgeEvents: async () => {
    if (random() < 0.2) throw new Error('the acknowledgement was lost');
  },
};
const sequencer = createSequencer(store.feed, { members, retentionDays: 30, now });

async function sequence(): Promise<void> {
  for (;;) {
    await sequencer.pass().catch(() => undefined);
    await new Promise(setImmediate);
  }
}

await Promise.all([record(1), record(2), sequence()]);
