// `loyalty members export` and `erase`: members' rights to what is kept of them.
import type { MemberImport, MembersStore } from '@partner-loyalty/members';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { oneErasureAtATime } from '@partner-loyalty/runtime/store/lock.lmdb.ts';
import type { StandingsStore } from '@partner-loyalty/standings';
import { type Add, MEMBER } from '../shell/argument.ts';
import { CommandError, noSuch, oneLine, type Shell } from '../shell/shell.ts';
import { claimForOperator, readStore, withStore } from '../shell/stores.ts';
import { compactErased } from './files.ts';

export function addRightsCommands(add: Add, shell: Shell): void {
  add('export', 'print all that is kept of a member, as JSON', MEMBER).action((memberId: string) =>
    exportMember(shell, memberId),
  );
  add('erase', 'delete all that is kept of a member; it can be repeated', MEMBER)
    .option('--later', 'leave the files of the embedded stores for the next start to rewrite')
    .action((memberId: string, { later = false }: { later?: boolean }) =>
      erase(shell, memberId, later),
    );
}

/** Lets members be imported again who were erased, once nothing is left of them. */
export async function liftMarks(
  settings: Settings,
  members: MembersStore,
  records: readonly MemberImport[],
): Promise<void> {
  const { rights } = members;
  for (const { memberId } of records) {
    if (memberId === undefined || !(await rights.isErased(memberId))) continue;
    await alone(settings, () =>
      withStore('standings', settings, async (standings) => {
        // The erasure may have been killed. The standings' mark goes first.
        await eraseInBoth(members, standings, memberId);
        await standings.liftMark(memberId);
        await rights.liftMark(memberId);
      }),
    );
  }
}

/** Prints all that is kept of a member; of one who was merged, what the other one has. */
export async function exportMember(shell: Shell, memberId: string): Promise<void> {
  const settings = shell.settings();
  await readStore('members', settings, (members) =>
    readStore('standings', settings, (standings) =>
      printExport(shell, { members, standings }, memberId),
    ),
  );
}

async function printExport(
  shell: Shell,
  stores: { members: MembersStore; standings: StandingsStore },
  memberId: string,
): Promise<void> {
  const { members, standings } = stores;
  const kept = await members.rights.find(memberId);
  const [current = memberId, ...merged] = await standings.merges.idsOf(memberId);
  if (kept === undefined && current !== memberId) return printExport(shell, stores, current);
  const sums = await standings.standingsOf(memberId);
  if (kept === undefined && sums.length === 0) throw noSuch('member', memberId);
  const space = shell.json ? undefined : 2;
  const rest = JSON.stringify({ memberId, ...kept, merged, standings: sums }, undefined, space);
  shell.write(rest.slice(0, -1).trimEnd());
  // Piece by piece, since there may be many.
  await writeList(shell, 'activities', standings.activitiesOf(memberId));
  const ids = current === memberId ? [memberId, ...merged] : [memberId];
  await writeList(shell, 'events', eventsOf(standings, ids));
  shell.write(shell.json ? '}\n' : '\n}\n');
}

async function* eventsOf({ feed }: StandingsStore, memberIds: readonly string[]) {
  for (const memberId of memberIds)
    for await (const { occurredAt, ...event } of feed.ofMember(memberId))
      yield { ...event, occurredAt: new Date(occurredAt) };
}

async function writeList(shell: Shell, name: string, list: AsyncIterable<object>): Promise<void> {
  const gap = shell.json ? '' : '\n    ';
  shell.write(`,${shell.json ? '' : '\n  '}"${name}":`);
  let separator = '[';
  for await (const item of list) {
    shell.write(`${separator}${gap}${JSON.stringify(item)}`);
    separator = ',';
  }
  shell.write(separator === '[' ? '[]' : `${shell.json ? '' : '\n  '}]`);
}

async function erase(shell: Shell, memberId: string, isLater: boolean): Promise<void> {
  const settings = shell.settings();
  const erased = await alone(settings, async () => {
    await withStore('keys', settings, claimForOperator);
    const deleted = await withStore('standings', settings, (standings) =>
      withStore('members', settings, async (members) => {
        await requireTraces(members, standings, memberId);
        return eraseInBoth(members, standings, memberId);
      }),
    );
    if (settings.mongodbUrl === undefined) await clearFiles(shell, isLater);
    return deleted;
  });
  for (const [id, activities] of erased) shell.print({ memberId: id, state: 'erased', activities });
}

/**
 * The members store first: as soon as its mark is set, nobody imports the member, and once the
 * record is gone, nobody is shown it. The other way round, a command that was killed would leave a
 * member who has lost all points. Without the record, the command still erases the rest. With a
 * member go those who were merged into it, and the one that it was merged into. Resolves to the
 * number of activities by ID.
 */
async function eraseInBoth(
  { rights }: MembersStore,
  standings: StandingsStore,
  memberId: string,
): Promise<ReadonlyMap<string, number>> {
  const { idsOf, forget } = standings.merges;
  const erased = new Map<string, number>();
  for (let ids = await idsOf(memberId); !ids.every((id) => erased.has(id)); ) {
    // Merged ones first: what is left of them leads to the current one.
    for (const id of ids.toReversed()) await rights.erase(id);
    for (const id of ids) erased.set(id, (erased.get(id) ?? 0) + (await standings.eraseMember(id)));
    // On MongoDB, a merge may have begun before the marks were set.
    ids = await idsOf(memberId);
  }
  await forget([...erased.keys()]);
  return erased;
}

/** Runs `work` after other erasures and merges; on MongoDB, beside them. */
export function alone<T>({ mongodbUrl, dataDir }: Settings, work: () => Promise<T>): Promise<T> {
  return mongodbUrl === undefined ? oneErasureAtATime(dataDir, work) : work();
}

/** The stores have to be closed in this process. */
async function clearFiles(shell: Shell, isLater: boolean): Promise<void> {
  let isCleared = false;
  try {
    isCleared = !isLater && (await compactErased(shell)) !== undefined;
  } catch (error) {
    throw new CommandError(
      `the member is erased, but the files keep parts of it; run \`loyalty compact\`: ${oneLine(error)}`,
    );
  }
  if (!isCleared)
    shell.note(
      'The files keep parts of it until the next start of the service, or `loyalty compact`, rewrites them.',
    );
}

/** Guards against a wrong ID, which would get a mark. Throws a CommandError. */
async function requireTraces(
  { member, rights }: MembersStore,
  standings: StandingsStore,
  memberId: string,
): Promise<void> {
  if ((await member(memberId)) !== undefined || (await rights.isErased(memberId))) return;
  const [current] = await standings.merges.idsOf(memberId);
  const isUnknown = current === memberId && (await standings.standingsOf(memberId)).length === 0;
  if (isUnknown) throw noSuch('member', memberId);
}
