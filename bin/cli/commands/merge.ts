// `loyalty members merge`: makes one member of two, in both subgraphs.
import { setTimeout as pause } from 'node:timers/promises';
import { endingSessions, type MembersStore } from '@partner-loyalty/members';
import { joinStandings, type StandingsStore } from '@partner-loyalty/standings';
import type { Add } from '../shell/argument.ts';
import { CommandError, type Shell } from '../shell/shell.ts';
import { claimForOperator, requireMember, withStore } from '../shell/stores.ts';
import { alone, exportMember } from './rights.ts';

/**
 * Longer than a request that has begun may still read what the member who goes had: each of the
 * subgraphs has 2 seconds, one after the other.
 */
const READS_END_MS = 4_500;

type Pair = { from: string; into: string };
type Stores = { members: MembersStore; standings: StandingsStore };

export function addMergeCommand(add: Add, shell: Shell): void {
  add('merge', 'make one member of two, for ever; it can be repeated', {
    '<from>': 'the ID of the member who becomes part of the other one',
    '<into>': 'the ID of the member who stays',
  })
    .option('--dry-run', 'only say what would become of it')
    .action(async (from: string, into: string, { dryRun = false }: { dryRun?: boolean }) => {
      const settings = shell.settings();
      const inTurn = <T>(step: (stores: Stores) => Promise<T>) =>
        alone(settings, () =>
          withStore('members', settings, (members) =>
            withStore('standings', settings, (standings) => step({ members, standings })),
          ),
        );
      const pair = { from, into };
      if (!(await inTurn((stores) => isPending(shell, stores, pair, dryRun)))) return;
      // Whoever reads it may be slow, which keeps nobody else waiting.
      await exportMember(shell, from);
      shell.checkOutput('nothing was merged');
      await inTurn((stores) => merge(shell, stores, pair));
    });
}

/** Whether the members are still to be merged; if not, or in a dry run, prints what is so. */
async function isPending(
  shell: Shell,
  { members, standings }: Stores,
  pair: Pair,
  isDryRun: boolean,
): Promise<boolean> {
  const { from, into } = pair;
  const isBegun = await requireFree(standings, pair);
  if (isBegun && (await members.member(from)) === undefined) {
    // A merge that was killed may have left them.
    if (!isDryRun) await finish({ members, standings }, from);
    shell.note(`member ${JSON.stringify(from)} is part of ${JSON.stringify(into)} already`);
    shell.print({ ...pair, state: 'merged' });
    return false;
  }
  const { enrollments } = await requireMergeable(members, from, isBegun);
  await requireMergeable(members, into, isBegun);
  const sums = joinStandings([
    ...(await standings.standingsOf(into)),
    ...(isBegun ? [] : await standings.standingsOf(from)),
  ]);
  if (sums === undefined) throw new CommandError(REFUSED['out-of-range']);
  if (isDryRun) {
    const partnerIds = enrollments.map(({ partnerId }) => partnerId);
    shell.print({
      ...pair,
      state: isBegun ? 'begun' : 'ready',
      partnerIds,
      standings: shell.json
        ? sums
        : sums.map(({ partnerId, year, points }) => `${partnerId} ${year}: ${points} points`),
    });
  }
  return !isDryRun;
}

async function merge(shell: Shell, stores: Stores, pair: Pair): Promise<void> {
  if (!(await isPending(shell, stores, pair, false))) return;
  const { members, standings } = stores;
  const { from, into } = pair;
  await withStore('keys', shell.settings(), claimForOperator);
  // The sums first: a member who was found without them would have lost his points.
  const refusal = await standings.merges.begin(from, into);
  if (refusal !== undefined) throw new CommandError(REFUSED[refusal]);
  await endingSessions(members.endedSessions, from, () => members.merge(pair));
  await pause(READS_END_MS);
  await finish(stores, from);
  const done = { ...pair, state: 'merged' };
  if (shell.json) shell.print(done);
  else shell.note(`member ${JSON.stringify(from)} is part of ${JSON.stringify(into)} now`);
}

/** Forgets what the member who went was signed in to, and that the merge was in progress. */
async function finish({ members, standings }: Stores, from: string): Promise<void> {
  for (const { forget } of [members.access, members.payloads]) await forget(from);
  await standings.merges.finish(from);
}

const REFUSED = {
  shared: 'another merge of one of the two has begun: repeat that one first',
  erased: 'one of the members was erased',
  'out-of-range': 'the points or stays of a year would leave the range of Int',
};

/** Whether this merge has begun. Throws a CommandError if another one keeps it from beginning. */
async function requireFree({ merges }: StandingsStore, { from, into }: Pair): Promise<boolean> {
  if (from === into) throw new CommandError('the two members are the same');
  const [current, ...others] = await merges.idsOf(from);
  if (current === into) return true;
  if (current !== from) throw new CommandError('the first member was merged into another one');
  if (others.length > 0)
    throw new CommandError(
      'another member was merged into the first one: merge it the other way round',
    );
  if ((await merges.idsOf(into))[0] !== into)
    throw new CommandError('the second member was merged into another one');
  return false;
}

/** Throws a CommandError if there is no such member, or if it is locked before the merge begins. */
async function requireMergeable(members: MembersStore, memberId: string, isBegun: boolean) {
  if (await members.rights.isErased(memberId))
    throw new CommandError(`member ${JSON.stringify(memberId)} was erased`);
  const member = await requireMember(members, memberId);
  if (member.locked && !isBegun)
    throw new CommandError(
      'an address of one of the members is locked: loyalty members unlock EMAIL',
    );
  return member;
}
