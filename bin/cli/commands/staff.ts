// `loyalty staff`: who may use the console for a partner.
import {
  inviteStaff,
  listStaff,
  MAX_STAFF,
  removeStaff,
  STAFF_ROLES,
  type Staff,
  type StaffRole,
} from '@partner-loyalty/gateway';
import { Option } from 'commander';
import { commandGroup, PARTNER } from '../shell/argument.ts';
import { CommandError, noSuch, type Row, type Shell } from '../shell/shell.ts';
import { claimForOperator, readStore, requirePartner, withStore } from '../shell/stores.ts';

export function staffCommand(shell: Shell) {
  const { group, add } = commandGroup('staff', 'manage who may use the console for a partner');
  add('invite', 'let an address sign in to the console, or change its role there', {
    ...PARTNER,
    '<email>': 'the email address',
  })
    .addOption(
      new Option('--role <role>', 'an admin may also make changes')
        .choices(STAFF_ROLES)
        .default('viewer'),
    )
    .action((partnerId: string, email: string, { role }: { role: StaffRole }) =>
      invite(shell, partnerId, email, role),
    );
  add('list', "list a partner's staff", PARTNER).action((partnerId: string) =>
    list(shell, partnerId),
  );
  add('remove', 'remove somebody; sessions in the console end within 5 seconds', {
    '<staffid>': 'the ID, as listed',
  }).action((staffId: string) => remove(shell, staffId));
  return group;
}

async function invite(shell: Shell, partnerId: string, email: string, role: StaffRole) {
  const invited = await withStore('keys', shell.settings(), async (keys) => {
    await requirePartner(keys, partnerId);
    await claimForOperator(keys);
    return inviteStaff(await keys.staffTables(), { partnerId, email, role });
  });
  if (invited === 'invalid') throw new CommandError('the email address is not valid');
  if (invited === 'full')
    throw new CommandError(`partner ${partnerId} has ${MAX_STAFF} staff, the most there can be`);
  shell.print(rowOf(invited));
}

async function list(shell: Shell, partnerId: string): Promise<void> {
  const found = await readStore('keys', shell.settings(), async (keys) => {
    await requirePartner(keys, partnerId);
    return listStaff(await keys.staffTables(), partnerId);
  });
  if (found.length === 0)
    shell.note(`partner ${partnerId} has no staff yet: loyalty staff invite ${partnerId} EMAIL`);
  else shell.printAll(found.map(rowOf));
}

function rowOf({ staffId, email, role }: Staff): Row {
  return { staffId, email, role };
}

async function remove(shell: Shell, staffId: string): Promise<void> {
  await withStore('keys', shell.settings(), async (keys) => {
    if (!(await removeStaff(await keys.staffTables(), staffId))) throw noSuch('staff', staffId);
  });
  shell.print({ staffId, removed: true });
}
