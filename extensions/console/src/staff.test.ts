// Admins of one partner on two gateways, whose forms do not wait for each other.
import { inviteStaff, listStaff } from '@partner-loyalty/gateway/identity/staff.ts';
import { openKeyStore } from '@partner-loyalty/gateway/stores.ts';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { createStaffSection } from './staff.ts';

test.each(['remove', 'invite'])(
  'race: of two admins who %s each other, one is left',
  async (action) => {
    const folder = temporaryFolder();
    const keyStore = await openKeyStore({ environment: 'sandbox', dataDir: folder.path });
    const tables = await keyStore.staffTables();
    for (const email of ['ada@inn.example', 'eve@inn.example'])
      await inviteStaff(tables, { partnerId: 'inn', email, role: 'admin' });
    const [ada, eve] = await listStaff(tables, 'inn');
    const section = createStaffSection({
      keyStore,
      members: { mailStaff: async () => {} },
      ownUrl: '',
    });
    const submit = (by: typeof ada, other: typeof ada) =>
      by &&
      other &&
      section.actions?.[action]?.(
        { staff: by, query: new URLSearchParams(), requestId: 'r', changed() {} },
        new URLSearchParams({ action, staffId: other.staffId, email: other.email, role: 'viewer' }),
      );
    await Promise.all([submit(ada, eve), submit(eve, ada)]);
    const left = (await listStaff(tables, 'inn')).map(({ role }) => role);
    await keyStore.close();
    folder.remove();
    expect(left).toContain('admin');
  },
);
