// `loyalty members merge`: makes one member of two, in both subgraphs.
import { setTimeout as pause } from 'node:timers/promises';
import {
  endingSessions,
  type Member,
  type MembersStore,
  type MergeState,
} from '@partner-loyalty/members';
import { addStandings, type StandingsStore } from '@partner-loyalty/standings';
import type { Command } from 'commander';
import { CommandError, noSuch, type Shell } from '../shell/shell.ts';
import { claimForOperator, requireMember, withStore } from '../shell/stores.ts';
import { alone, printExport } from './rights.ts';

/** Longer than a request that has begun may still read what the member who goes had. */
const READS_END_MS = 2_500;

type Pair = { from: string; into: string };
type Stores = { members: MembersStore; standings: StandingsStore };

export function addMergeCommand(group: Command, shell: Shell): void {
  group
    .command('merge')
    .description('make one member of two, for ever; it can be repeated')
    .argument('<from>', 'the ID of the member who becomes part of the other one')
    .argument('<into>', 'the ID of the member who stays')
    .option('--dry-run', 'only say what would become of it')
    .action((from: string, into: string, { dryRun = false }: { dryRun?: boolean }) => {
      const settings = shell.settings();
      return alone(settings, () =>
        withStore('members', settings, (members) =>
          withStore('standings', settings, (standings) =>
            merge(shell, { members, standings }, { from, into }, dryRun),
          ),
        ),
      );
    });
}

async function merge(shell: Shell, stores: Stores, pair: Pair, isDryRun: boolean): Promise<void> {
  const { members, standings } = stores;
  const { from, into } = pair;
  const state = await members.merges.state(pair);
  await refuse(members, pair, state);
  if (state === 'merged') {
    // A merge that was killed may have left them.
    if (!isDryRun) await standings.merges.finish(from);
    shell.note(`member ${JSON.stringify(from)} is part of ${JSON.stringify(into)} already`);
    return shell.print({ ...pair, state: 'merged' });
  }
  const sums = state === 'begun' ? [] : await sumsOf(standings, pair);
  if (isDryRun) {
    const { enrollments }: Member = await requireMember(members, from);
    const partnerIds = enrollments.map(({ partnerId }) => partnerId);
    return shell.print({ ...pair, state, partnerIds, standings: sums });
  }
  await printExport(shell, stores, from);
  await withStore('keys', shell.settings(), claimForOperator);
  await refuse(members, pair, await members.merges.begin(pair));
  // The sums first: a member who was found without them would have lost his points.
  if (!(await standings.merges.begin(from, into))) {
    await members.merges.release(pair);
    throw outOfRange();
  }
  await endingSessions(members.endedSessions, from, () => members.merges.complete(pair));
  await pause(READS_END_MS);
  await standings.merges.finish(from);
  const done = { ...pair, state: 'merged' };
  if (shell.json) shell.print(done);
  else shell.note(`member ${JSON.stringify(from)} is part of ${JSON.stringify(into)} now`);
}

const REFUSED: Partial<Record<MergeState, string>> = {
  same: 'the two members are the same',
  locked: 'an address of one of the members is locked: loyalty members unlock EMAIL',
  'from-was-merged': 'the first member was merged into another one',
  'from-has-merged': 'another member was merged into the first one: merge it the other way round',
  'into-was-merged': 'the second member was merged into another one',
};

/** Throws a CommandError if these two cannot be merged. */
async function refuse({ rights }: MembersStore, pair: Pair, state: MergeState): Promise<void> {
  const missing = { 'no-from': pair.from, 'no-into': pair.into }[state as 'no-from'];
  if (missing !== undefined && (await rights.isErased(missing)))
    throw new CommandError(`member ${JSON.stringify(missing)} was erased`);
  if (missing !== undefined) throw noSuch('member', missing);
  const reason = REFUSED[state];
  if (reason !== undefined) throw new CommandError(reason);
}

/** The sums that they will have together. Throws a CommandError if one would leave Int. */
async function sumsOf({ standingsOf }: StandingsStore, { from, into }: Pair) {
  const own = await standingsOf(into);
  const joined = (await standingsOf(from)).map(({ partnerId, year, ...theirs }) => {
    const present = own.find((one) => one.partnerId === partnerId && one.year === year);
    const sum = addStandings(theirs, present ?? { points: 0, stays: 0 });
    if (sum === undefined) throw outOfRange();
    return { partnerId, year, ...sum };
  });
  const isJoined = ({ partnerId, year }: { partnerId: string; year: string }) =>
    joined.some((one) => one.partnerId === partnerId && one.year === year);
  return [...joined, ...own.filter((one) => !isJoined(one))];
}

function outOfRange(): CommandError {
  return new CommandError('the points or stays of a year would leave the range of Int');
}
