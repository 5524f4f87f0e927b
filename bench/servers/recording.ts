// Records activities over GraphQL and as an import does, in turns, and prints the times.
import { randomUUID } from 'node:crypto';
import { createMembers, openMembersStore } from '@partner-loyalty/members';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { createExecutor } from '@partner-loyalty/runtime/subgraph/executor.ts';
import { createInProcessTransport } from '@partner-loyalty/runtime/subgraph/inprocess.ts';
import { openStandingsStore, startStandings } from '@partner-loyalty/standings';
import type { StoreSettings } from '../dataset/stores.ts';

export type RecordingOptions = { settings: StoreSettings; rounds: number; calls: number };
/** Milliseconds of each call, by way and round. */
export type RecordingTimes = Record<(typeof WAYS)[number], number[][]>;

const WAYS = ['one', 'hundred', 'single', 'import', 'members', 'lookUps'] as const;

const PARTNER = 'bench';
const RECORD =
  'mutation ($activities: [ActivityInput!]!) { recordActivities(activities: $activities) { outcome } }';

// Cast: parts/recording.ts writes the options.
const { settings, rounds, calls } = JSON.parse(process.argv[2] ?? '') as RecordingOptions;
const members = await openMembersStore({ ...settings, keyEncryptionKey: undefined });
const standings = await openStandingsStore(settings);
const [log, caches] = [createLog('silent'), createCaches()];
const noMail = { baseAddress: 'http://localhost:4000', wake: () => {} };
const toMembers = createInProcessTransport(createMembers(members, noMail), log, caches);
// With the sequencer, which gives events their positions.
const subgraph = startStandings(
  standings,
  { ...readSettings({}, 'all'), ...settings },
  { members: toMembers, log, metrics: createMetrics() },
);
const execute = createExecutor(subgraph, log, caches);
const memberIds = newIds(100);
await members.importMembers(memberIds.map((memberId) => memberWith(memberId, 1)));
const enrolledIds = newIds(32);
await members.importMembers(enrolledIds.map((memberId) => memberWith(memberId, 20)));

const RUN: Record<Exclude<(typeof WAYS)[number], 'lookUps'>, () => Promise<unknown>> = {
  one: () => record(1),
  hundred: () => record(100),
  single: () => Promise.all(Array.from({ length: 100 }, () => record(1))),
  import: () => standings.record(activities(100).map((one) => ({ ...one, year: '2026-01-01' }))),
  members: () => members.importMembers(newIds(1_000).map((memberId) => memberWith(memberId, 1))),
};

try {
  const times: RecordingTimes = {
    ...{ one: [], hundred: [], single: [], import: [], members: [], lookUps: [] },
  };
  // One kind after the other: what an import leaves to the database slows recording down.
  for (const ways of [WAYS.slice(0, 4), WAYS.slice(4)])
    for (let round = 0; round < rounds; round++) {
      const ofRound: Record<string, number[]> = {};
      for (let call = 0; call < calls; call++)
        for (const way of ways) {
          const startedAt = performance.now();
          if (way !== 'lookUps') await RUN[way]();
          const ms = way === 'lookUps' ? await lookUp() : performance.now() - startedAt;
          ofRound[way] = [...(ofRound[way] ?? []), ms];
        }
      for (const way of ways) times[way].push(ofRound[way] ?? []);
    }
  // The database may be one that stays.
  for (const memberId of [...memberIds, ...enrolledIds]) {
    await members.rights.erase(memberId);
    await standings.eraseMember(memberId);
  }
  console.log(`RESULT ${JSON.stringify(times)}`);
} finally {
  await subgraph.close();
  await toMembers.close();
}

function newIds(count: number): string[] {
  return Array.from({ length: count }, () => `m-${randomUUID()}`);
}

function memberWith(memberId: string, enrollments: number) {
  const address = `${memberId}@example.com`;
  return {
    memberId,
    address: { typed: address, canonical: address },
    previousAddresses: [],
    enrollments: Array.from({ length: enrollments }, (_, n) => ({
      partnerId: n === 0 ? PARTNER : `${PARTNER}-${n}`,
    })),
  };
}

/** Resolves with the milliseconds of CPU that 32 of them take. */
async function lookUp(): Promise<number> {
  const rounds = 10;
  const start = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1)
    await Promise.all(enrolledIds.map((id) => members.memberByEmail(PARTNER, `${id}@example.com`)));
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000 / rounds;
}

function activities(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    activityId: randomUUID(),
    partnerId: PARTNER,
    memberId: memberIds[index % memberIds.length] ?? '',
    points: 1,
    stays: 1,
    occurredAt: new Date('2026-05-01T00:00:00Z'),
  }));
}

async function record(count: number): Promise<void> {
  const inputs = activities(count).map(({ partnerId: _, occurredAt, ...one }) => {
    return { ...one, occurredAt: occurredAt.toISOString() };
  });
  const { errors } = await execute({
    query: RECORD,
    variables: { activities: inputs },
    caller: { kind: 'partner', partnerId: PARTNER },
    requestId: 'bench',
  });
  if (errors !== undefined) throw new Error(`activities were not recorded: ${errors[0]?.message}`);
}
