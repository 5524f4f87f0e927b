// Another process on the same members store, for tests of several processes.
import { openMembersStore } from '../src/index.ts';
import { address, memberImport } from './engine.ts';

const [settings = '{}', act, name = ''] = process.argv.slice(2);
const store = await openMembersStore({ ...JSON.parse(settings), environment: 'sandbox' });

if (act === 'enroll') {
  let created = 0;
  const won: string[] = [];
  for (let i = 0; i < 8; i += 1) {
    // Both processes enroll this person, and each wants the external ID for its own member.
    const person = await store.enroll({
      partnerId: 'inn',
      address: address(`person${i}@example.com`),
    });
    if (person.outcome === 'enrolled' && person.created) created += 1;
    const own = await store.enroll({
      partnerId: 'inn',
      address: address(`own${i}-${name}@example.com`),
      externalId: `E-${i}`,
    });
    if (own.outcome === 'enrolled') won.push(`E-${i}`);
  }
  process.stdout.write(JSON.stringify({ created, won }));
  await store.close();
}

if (act === 'import-and-die') {
  const imports = Array.from({ length: 2_000 }, (_, i) =>
    memberImport(`import${i}@example.com`, {
      memberId: `i${i}`,
      enrollments: [{ partnerId: 'inn', externalId: `I-${i}` }],
    }),
  );
  await store.importMembers(imports.slice(0, 300));
  void store.importMembers(imports.slice(300, 1_500));
  // In the middle of a batch: it has begun by the next event loop tick.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 15);
}
