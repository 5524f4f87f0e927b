// Writes to embedded stores one after the other, and prints a line when each is acknowledged.
import { writeSync } from 'node:fs';
import { openMembersStore } from '@partner-loyalty/members';
import { DEFAULT_PROGRAM, openStandingsStore } from '@partner-loyalty/standings';

const [dataDir = ''] = process.argv.slice(2);
const settings = {
  environment: 'sandbox' as const,
  dataDir,
  mongodbUrl: undefined,
  keyEncryptionKey: undefined,
};
const members = await openMembersStore(settings);
const standings = await openStandingsStore(settings);

const address = (name: string) => ({
  typed: `${name}@example.com`,
  canonical: `${name}@example.com`,
});
const activity = (activityId: string) => ({
  activityId,
  partnerId: 'inn',
  memberId: 'zoe',
  points: 5,
  stays: 1,
  occurredAt: new Date(),
  year: '2026',
});

const WRITES = {
  members: [
    () => members.enroll({ partnerId: 'inn', address: address('zoe') }),
    () =>
      members.outbox.add({
        jobId: 'job',
        task: { kind: 'magic-link', partnerId: 'inn', address: 'zoe@example.com' },
        requestedAt: Date.now(),
      }),
    () => members.enroll({ partnerId: 'inn', address: address('max') }),
  ],
  standings: [
    () => standings.putProgram('inn', DEFAULT_PROGRAM),
    () => standings.record([activity('a'), activity('b')]),
    () => standings.eraseMember('zoe'),
  ],
};
writeSync(1, 'opened\n');
for (const [store, writes] of Object.entries(WRITES))
  for (const write of writes) {
    await write();
    // Not by process.stdout, which may write later.
    writeSync(1, `acknowledged: ${store}\n`);
  }
await members.close();
await standings.close();
