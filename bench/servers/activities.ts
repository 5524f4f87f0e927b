// Adds activities to years that have few and many, one by one and in turns, and prints the times.
import { randomUUID } from 'node:crypto';
import { openStandingsStore } from '@partner-loyalty/standings';
import type { StoreSettings } from '../dataset/stores.ts';

export type AppendOptions = {
  settings: StoreSettings;
  /** How many activities each member's year has at first. */
  counts: readonly number[];
  rounds: number;
  /** For each member in a round. */
  appends: number;
};

/** Milliseconds of each append, by member and round. */
export type AppendTimes = number[][][];

const BATCH_SIZE = 5_000;
const YEAR = '2026-01-01';

// Cast: parts/activities/year.ts writes the options.
const { settings, counts, rounds, appends } = JSON.parse(process.argv[2] ?? '') as AppendOptions;
const store = await openStandingsStore(settings);
try {
  const members = counts.map((count) => ({ memberId: `m-${randomUUID()}`, count, next: 0 }));
  for (const member of members)
    for (let left = member.count; left > 0; left -= BATCH_SIZE)
      await store.record(activitiesOf(member, Math.min(left, BATCH_SIZE)));
  const times: AppendTimes = members.map(() => []);
  for (let round = 0; round < rounds; round++) {
    const ofRound = members.map((): number[] => []);
    for (let append = 0; append < appends; append++)
      for (const [place, member] of members.entries())
        ofRound[place]?.push(await timeOf(() => store.record(activitiesOf(member, 1))));
    for (const [place, all] of ofRound.entries()) times[place]?.push(all);
  }
  // The database may be one that stays.
  for (const { memberId } of members) await store.eraseMember(memberId);
  console.log(`RESULT ${JSON.stringify(times)}`);
} finally {
  await store.close();
}

function activitiesOf(member: { memberId: string; next: number }, count: number) {
  const { memberId } = member;
  return Array.from({ length: count }, () => ({
    activityId: `${memberId}-${member.next++}`,
    partnerId: 'bench',
    memberId,
    points: 1,
    stays: 1,
    occurredAt: new Date(),
    year: YEAR,
  }));
}

async function timeOf(append: () => Promise<readonly string[]>): Promise<number> {
  const startedAt = performance.now();
  const [outcome] = await append();
  const ms = performance.now() - startedAt;
  if (outcome !== 'recorded') throw new Error(`an activity was not recorded: ${outcome}`);
  return Math.round(ms * 1000) / 1000;
}
