// `loyalty members export` and `erase`: members' rights to what is kept of them.
import type { MemberImport, MembersStore } from '@partner-loyalty/members';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Activity, StandingsStore } from '@partner-loyalty/standings';
import type { Command } from 'commander';
import { CommandError, oneLine, type Shell } from '../shell/shell.ts';
import { claimForOperator, withStore } from '../shell/stores.ts';
import { compactNext } from './compact.ts';

export function addRightsCommands(group: Command, shell: Shell): void {
  group
    .command('export')
    .description('print all that is kept of a member, as JSON')
    .argument('<memberid>', "the member's ID")
    .action((memberId: string) => exportMember(shell, memberId));
  group
    .command('erase')
    .description('delete all that is kept of a member; it can be repeated')
    .argument('<memberid>', "the member's ID")
    .option('--later', 'leave freed pages of the embedded stores for `loyalty compact` to clear')
    .action((memberId: string, { later = false }: { later?: boolean }) =>
      erase(shell, memberId, later),
    );
}

/** Lets members be imported again who were erased; the standings' mark goes first. */
export async function liftMarks(
  settings: Settings,
  { rights }: MembersStore,
  records: readonly MemberImport[],
): Promise<void> {
  for (const { memberId } of records) {
    if (memberId === undefined || !(await rights.isErased(memberId))) continue;
    await withStore('standings', settings, (standings) => standings.liftMark(memberId));
    await rights.liftMark(memberId);
  }
}

async function exportMember(shell: Shell, memberId: string): Promise<void> {
  const settings = shell.settings();
  const kept = await withStore('members', settings, ({ rights }) => rights.find(memberId));
  await withStore('standings', settings, async (standings) => {
    const sums = await standings.standingsOf(memberId);
    if (kept === undefined && sums.length === 0) throw noMember(memberId);
    const space = shell.json ? undefined : 2;
    const rest = JSON.stringify({ memberId, ...kept, standings: sums }, undefined, space);
    // Piece by piece, since there may be many activities.
    shell.write(`${rest.slice(0, -1).trimEnd()},${shell.json ? '' : '\n  '}"activities":`);
    await writeList(shell, standings.activitiesOf(memberId));
    shell.write(shell.json ? '}\n' : '\n}\n');
  });
}

async function writeList(shell: Shell, activities: AsyncIterable<Activity>): Promise<void> {
  const gap = shell.json ? '' : '\n    ';
  let separator = '[';
  for await (const activity of activities) {
    shell.write(`${separator}${gap}${JSON.stringify(activity)}`);
    separator = ',';
  }
  shell.write(separator === '[' ? '[]' : `${shell.json ? '' : '\n  '}]`);
}

/**
 * The members store first: as soon as its mark is set, nobody imports the member, and once the
 * record is gone, nobody is shown it. The other way round, a command that was killed would leave a
 * member who has lost all points. Without the record, the command still erases the rest.
 */
async function erase(shell: Shell, memberId: string, isLater: boolean): Promise<void> {
  const settings = shell.settings();
  await withStore('keys', settings, claimForOperator);
  await withStore('standings', settings, (standings) =>
    withStore('members', settings, async (members) => {
      await requireTraces(members, standings, memberId);
      await members.rights.erase(memberId);
    }),
  );
  const activities = await withStore('standings', settings, (standings) =>
    standings.eraseMember(memberId),
  );
  if (settings.mongodbUrl === undefined) await clearPages(shell, settings, isLater);
  shell.print({ memberId, state: 'erased', activities });
}

/** The stores have to be closed in this process. */
async function clearPages(shell: Shell, settings: Settings, isLater: boolean): Promise<void> {
  if (isLater) {
    if (!shell.json)
      shell.note('Freed pages of the stores keep parts of it until you run `loyalty compact`.');
    return;
  }
  try {
    await compactNext(settings);
  } catch (error) {
    throw new CommandError(
      `the member is erased, but freed pages keep parts of it; run \`loyalty compact\`: ${oneLine(error)}`,
    );
  }
}

/** Guards against a wrong ID, which would get a mark. Throws a CommandError. */
async function requireTraces(
  { member, rights }: MembersStore,
  standings: StandingsStore,
  memberId: string,
): Promise<void> {
  if ((await member(memberId)) !== undefined || (await rights.isErased(memberId))) return;
  if ((await standings.standingsOf(memberId)).length === 0) throw noMember(memberId);
}

function noMember(memberId: string): CommandError {
  return new CommandError(`there is no member ${JSON.stringify(memberId)}`);
}
