// A process that changes members of its own at random until it is killed, and may take over events.
import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { seeded } from '../../../test/support/cases/operations.ts';
import { openMembersStore } from '../src/index.ts';
import { address, memberImport } from './engine.ts';

const [settings = '{}', name = '', seed = '0', takes] = process.argv.slice(2);
const store = await openMembersStore({ ...JSON.parse(settings), environment: 'sandbox' });
const random = seeded(Number(seed));

/** Not by process.stdout, which may write later. */
const say = (line: object) => writeSync(1, `${JSON.stringify(line)}\n`);
const mailOf = (memberId: string) => `${memberId}@example.com`;

/** Changes some members, one change after the other. */
async function write(lane: string): Promise<void> {
  const ids = Array.from({ length: 4 }, (_, index) => `m-${lane}-${index}`);
  const acknowledged = async () => {
    for (const memberId of ids) {
      const { firstName, enrollments = [] } = (await store.member(memberId)) ?? {};
      const { externalId } = enrollments[0] ?? {};
      say({ memberId, firstName, externalId });
    }
  };
  await store.importMembers(
    ids.map((memberId) => {
      const enrollments = [{ partnerId: 'inn' }];
      return memberImport(mailOf(memberId), { memberId, enrollments });
    }),
  );
  for (let number = 0; ; number += 1) {
    const memberId = ids[Math.floor(random() * ids.length)] ?? '';
    const kind = random();
    if (kind < 0.3) await rename(ids);
    else if (kind < 0.5) await changeExternalId(memberId);
    else if (kind < 0.9) await toggle(memberId);
    else await addAndErase(`e-${lane}-${seed}-${number}`);
    await acknowledged();
  }
}

/** Counts each member's first name up. */
async function rename(ids: string[]): Promise<void> {
  const imports = ids.map(async (memberId) => {
    const { firstName = '0' } = (await store.member(memberId)) ?? {};
    return memberImport(mailOf(memberId), { memberId, firstName: `${Number(firstName) + 1}` });
  });
  await store.importMembers(await Promise.all(imports));
}

/** Counts the number at the end of the external ID up. */
async function changeExternalId(memberId: string): Promise<void> {
  const { enrollments = [] } = (await store.member(memberId)) ?? {};
  const [, count = '0'] = enrollments[0]?.externalId?.split('/') ?? [];
  await store.changeExternalId('inn', memberId, `${memberId}/${Number(count) + 1}`);
}

async function toggle(memberId: string): Promise<void> {
  const { enrollments = [] } = (await store.member(memberId)) ?? {};
  if (enrollments[1]?.status === 'ACTIVE') await store.endEnrollment('spa', memberId);
  else await store.enroll({ partnerId: 'spa', address: address(mailOf(memberId)) });
}

async function addAndErase(memberId: string): Promise<void> {
  say({ erased: memberId });
  const enrollments = [
    { partnerId: 'inn', externalId: `secret-${memberId}` },
    { partnerId: 'spa', status: 'ENDED' as const },
  ];
  await store.importMembers([memberImport(mailOf(memberId), { memberId, enrollments })]);
  await store.rights.erase(memberId);
}

async function takeOver(): Promise<void> {
  for (;;) {
    const pending = await store.events.pending(1 + Math.floor(random() * 20));
    for (const { event } of pending) say({ event });
    await store.events.acknowledge(pending.map(({ ack }) => ack));
    await pause(random() * 10);
  }
}

await Promise.all([write(`${name}1`), write(`${name}2`), takes === 'takes' && takeOver()]);
