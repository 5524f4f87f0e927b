// `loyalty members`: imports members, and locks addresses that are in dispute; and see rights.ts.
import { type Address, endingSessions, type ImportResult } from '@partner-loyalty/members';
import type { ImportOutcome } from '../import/importer.ts';
import { createMemberLineParser, emailAddress } from '../import/member.ts';
import { openSource, runImport } from '../import/run.ts';
import { commandGroup, typed } from '../shell/argument.ts';
import { CommandError, noSuch, type Shell } from '../shell/shell.ts';
import { changeMembers, claimForOperator, withStore } from '../shell/stores.ts';
import { addMergeCommand } from './merge.ts';
import { addRightsCommands, liftMarks } from './rights.ts';

const OUTCOMES: Record<ImportResult, ImportOutcome> = {
  added: 'added',
  changed: 'changed',
  unchanged: 'unchanged',
  'email-in-use': { refused: 'an address belongs to another member' },
  'address-locked': { refused: 'an address is locked: loyalty members unlock EMAIL' },
  'external-id-conflict': {
    refused: 'an external ID belongs to another member of the partner',
  },
  erased: { refused: 'memberId must not be that of an erased member, except with --again' },
  merged: { refused: 'memberId must not be that of a member who was merged into another one' },
};

const BATCH_LINES = 5_000;

export function membersCommand(shell: Shell) {
  const { group, add } = commandGroup('members', 'manage the members of the platform');
  add('import', 'import members; repeating an import changes nothing', {
    '<file>': 'NDJSON with one member per line; - for stdin',
  })
    .option('--again', 'also import members who were erased')
    .action((file: string, { again }: { again?: true }) =>
      importMembers(shell, file, again === true),
    );
  add('lock', 'lock an address: it gets no links, and is neither changed nor taken over')
    .argument('<email>', 'the address, current or earlier', typed('the address', emailAddress))
    .action((email: Address) => lock(shell, email));
  add('unlock', 'unlock an address')
    .argument('<email>', 'the address', typed('the address', emailAddress))
    .option('--to <memberid>', 'the member whose current address it becomes')
    .action((email: Address, { to }: { to?: string }) => unlock(shell, email, to));
  addRightsCommands(add, shell);
  addMergeCommand(add, shell);
  return group;
}

async function importMembers(shell: Shell, file: string, again: boolean): Promise<void> {
  const settings = shell.settings();
  const source = await openSource(file);
  await withStore('keys', settings, async (keys) => {
    const partners = new Set((await keys.partners()).map(({ partnerId }) => partnerId));
    await withStore('members', settings, (members) =>
      runImport(shell, 'members', source, {
        batchLines: BATCH_LINES,
        parse: createMemberLineParser(partners),
        async store(records) {
          await claimForOperator(keys);
          if (again) await liftMarks(settings, members, records);
          return (await members.importMembers(records)).map((outcome) => OUTCOMES[outcome]);
        },
      }),
    );
  });
}

async function lock(shell: Shell, address: Address): Promise<void> {
  const { typed, canonical } = address;
  const memberId = await changeMembers(shell, async ({ locks, endedSessions }) => {
    const holder = await locks.holder(canonical);
    return holder && endingSessions(endedSessions, holder, () => locks.lock(canonical, Date.now()));
  });
  if (memberId === undefined) throw new CommandError(`${typed} leads to no member`);
  shell.print({ email: typed, memberId, state: 'locked' });
}

async function unlock(shell: Shell, address: Address, to: string | undefined): Promise<void> {
  const result = await changeMembers(shell, ({ locks }) => locks.unlock(address, to));
  const { typed } = address;
  switch (result.outcome) {
    case 'unlocked':
      return shell.print({ email: typed, memberId: result.memberId, state: 'unlocked' });
    case 'not-locked':
      throw new CommandError(`${typed} is not locked`);
    case 'no-member':
      throw noSuch('member', to);
    case 'only-address':
      throw new CommandError(
        `${typed} is the only address of member ${JSON.stringify(result.memberId)}`,
      );
  }
}
