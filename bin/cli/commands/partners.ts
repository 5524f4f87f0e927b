// `loyalty partners`: creates, changes, suspends and lists partners.
import { type Partner, type PartnerChange, stateOfKey } from '@partner-loyalty/gateway';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import { DEFAULT_PROGRAM, type Program, type StandingsStore } from '@partner-loyalty/standings';
import { commandGroup, typed } from '../shell/argument.ts';
import type { ServiceShell } from '../shell/extension.ts';
import { CommandError, type Shell } from '../shell/shell.ts';
import {
  claimForOperator,
  putIntoMembers,
  readStore,
  requirePartner,
  withStore,
} from '../shell/stores.ts';
import {
  type PartnerOptions,
  partnerId,
  partnerName,
  readProgram,
  withPartnerOptions,
} from './partneroptions.ts';

const ID = { '<id>': 'its ID' };

export function partnersCommand(shell: ServiceShell) {
  const { group, add } = commandGroup('partners', 'manage the partners of the platform');
  withPartnerOptions(add('create', 'create a partner'))
    .argument(
      '<id>',
      'its ID: at most 64 letters, digits, ".", "_" and "-"',
      typed('the partner ID', partnerId),
    )
    .requiredOption('--name <name>', 'its name, as members see it', typed('--name', partnerName))
    .action((id: string, options: CreateOptions) => create(shell, id, options));
  withPartnerOptions(add('update', 'change a partner; what is left out stays as it is', ID))
    .value('--name <name>', 'its name, as members see it', partnerName)
    .action((id: string, options: PartnerOptions) => update(shell, id, options));
  add('suspend', 'refuse its keys and the tokens it holds, and disable its webhooks', ID).action(
    (id: string) => suspend(shell, id),
  );
  add('resume', 'end its suspension', ID).action((id: string) => resume(shell, id));
  add('show', 'print a partner with its program', ID).action((id: string) => show(shell, id));
  add('list', 'list the partners').action(() => list(shell));
  for (const extension of shell.extensions)
    for (const command of extension.partnerCommands?.(shell) ?? []) group.addCommand(command);
  return group;
}

type CreateOptions = PartnerOptions & { name: string };

async function create(shell: Shell, partnerId: string, options: CreateOptions): Promise<void> {
  const { name } = options;
  const program = readProgram(options.program);
  const given = { partnerId, ...changeOf(options), name, createdAt: new Date() };
  const partner: Partner = omitUndefined(given);
  const settings = shell.settings();
  await withStore('keys', settings, async (keys) => {
    if ((await keys.partner(partnerId)) !== undefined)
      throw new CommandError(`partner ${partnerId} already exists`);
    await claimForOperator(keys);
    await putIntoMembers(settings, partner);
    if (program !== undefined)
      await withStore('standings', settings, (standings) =>
        standings.putProgram(partnerId, program),
      );
    // The partner comes last, so that the command can be repeated if it was interrupted before.
    if (!(await keys.createPartner(partner)))
      throw new CommandError(`partner ${partnerId} already exists`);
  });
  shell.print(partner);
  if (program === undefined) noteMissingProgram(shell, partnerId);
}

function noteMissingProgram(shell: Shell, partnerId: string): void {
  const { membershipYear, tiers } = DEFAULT_PROGRAM;
  shell.note(
    `Partner ${partnerId} has no program: its membership year begins on ${membershipYear.start} ` +
      `in ${membershipYear.timeZone}, and every member has the tier ${tiers[0]?.name}. ` +
      `To give it one: loyalty partners update ${partnerId} --program FILE`,
  );
}

async function update(shell: Shell, partnerId: string, options: PartnerOptions): Promise<void> {
  if (Object.keys(options).length === 0)
    throw new CommandError('there is nothing to change; --help lists the options');
  const program = readProgram(options.program);
  const settings = shell.settings();
  if (program !== undefined)
    await withStore('keys', settings, async (keys) => {
      await requirePartner(keys, partnerId);
      await withStore('standings', settings, (store) => changeProgram(store, partnerId, program));
    });
  await change(shell, partnerId, changeOf(options));
}

/** Sums are kept by membership year, so a year that has any cannot begin on another day. */
async function changeProgram(standings: StandingsStore, partnerId: string, program: Program) {
  const { membershipYear: before } = (await standings.program(partnerId)) ?? DEFAULT_PROGRAM;
  const { start, timeZone } = program.membershipYear;
  const isSameYear = start === before.start && timeZone === before.timeZone;
  if (!isSameYear && (await standings.hasStandings(partnerId)))
    throw new CommandError(
      `--program: partner ${partnerId} has activities in membership years from ${before.start} ` +
        `in ${before.timeZone}, so only its tiers can change`,
    );
  await standings.changeProgram(partnerId, program);
}

async function suspend(shell: ServiceShell, partnerId: string): Promise<void> {
  const before = await withStore('keys', shell.settings(), (keys) =>
    requirePartner(keys, partnerId),
  );
  await change(shell, partnerId, { suspendedAt: before.suspendedAt ?? new Date() });
  for (const extension of shell.extensions) await extension.suspend?.(shell, partnerId);
}

async function resume(shell: ServiceShell, partnerId: string): Promise<void> {
  await change(shell, partnerId, { suspendedAt: undefined });
  for (const extension of shell.extensions) await extension.resume?.(shell, partnerId);
}

/** Changes a partner in the stores of keys and members, and prints it. */
async function change(shell: Shell, partnerId: string, changes: PartnerChange): Promise<void> {
  const settings = shell.settings();
  const partner = await withStore('keys', settings, async (keys) => {
    const before = await requirePartner(keys, partnerId);
    await claimForOperator(keys);
    const isEmpty = Object.keys(changes).length === 0; // Only the program has changed.
    const changed = isEmpty ? before : await keys.changePartner(partnerId, changes);
    if (changed !== undefined) await putIntoMembers(settings, changed);
    return changed ?? before;
  });
  shell.print(partner);
}

/** What the options change of a stored partner; `none` and `default` remove a property. */
function changeOf({ program: _, name, ...options }: PartnerOptions): PartnerChange {
  const changes = Object.entries(options).map(([property, given]) => [
    property,
    given === 'none' || given === 'default' ? undefined : given,
  ]);
  return { ...(name !== undefined && { name }), ...Object.fromEntries(changes) };
}

async function show(shell: Shell, partnerId: string): Promise<void> {
  const settings = shell.settings();
  const [{ createdAt, suspendedAt, ...partner }, records] = await readStore(
    'keys',
    settings,
    async (keys) => [await requirePartner(keys, partnerId), await keys.keys(partnerId)] as const,
  );
  const program = await readStore('standings', settings, async (store) => store.program(partnerId));
  shell.print({
    ...partner,
    state: suspendedAt === undefined ? 'active' : 'suspended',
    program,
    activeKeys: records.filter((record) => stateOfKey(record) === 'active').length,
    createdAt,
    suspendedAt,
  });
}

async function list(shell: Shell): Promise<void> {
  const partners = await readStore('keys', shell.settings(), (keys) => keys.partners());
  if (partners.length === 0)
    shell.note('there are no partners yet: loyalty partners create ID --name NAME');
  else shell.printAll(partners);
}
