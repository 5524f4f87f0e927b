// `loyalty partners`: creates, changes and lists partners.
import { readFileSync } from 'node:fs';
import type { Partner } from '@partner-loyalty/gateway';
import { omitUndefined, type Settings, text } from '@partner-loyalty/runtime';
import { type Program, parseProgram } from '@partner-loyalty/standings';
import { Command } from 'commander';
import * as z from 'zod';
import { parseStrictJson } from '../import/strictjson.ts';
import { digits, typed } from '../shell/argument.ts';
import { CommandError, oneLine, type Shell } from '../shell/shell.ts';
import { claimForOperator, requirePartner, withStore } from '../shell/stores.ts';

const MAX_NAME = 100;
const MAX_BUDGET = 1_000_000_000;

const MAX_INVITATIONS = 10_000;

type Consent = 'required' | 'none';
type UpdateOptions = { consent?: Consent; invitations?: number };
type CreateOptions = UpdateOptions & {
  name: string;
  program?: string;
  budget?: number;
  magicLinkUrl?: string;
};

export function partnersCommand(shell: Shell): Command {
  const group = new Command('partners').description('manage the partners of the platform');
  withInvitationOptions(group.command('create'))
    .description('create a partner')
    .argument(
      '<id>',
      'its ID: at most 64 letters, digits, ".", "_" and "-"',
      typed('the partner ID', partnerId),
    )
    .requiredOption('--name <name>', 'its name, as members see it', typed('--name', name))
    .option('--program <file>', 'its tiers and membership year, as JSON')
    .option(
      '--budget <fields>',
      'root fields per window, for each of its keys',
      typed('--budget', budget),
    )
    .option(
      '--magic-link-url <url>',
      'its own page that magic links lead to',
      typed('--magic-link-url', webUrl),
    )
    .action((id: string, options: CreateOptions) => create(shell, id, options));
  withInvitationOptions(group.command('update'))
    .description('change a partner; what is left out stays as it is')
    .argument('<id>', 'its ID')
    .action((id: string, options: UpdateOptions) => update(shell, id, options));
  group
    .command('list')
    .description('list the partners')
    .action(() => list(shell));
  return group;
}

/** The options on how members enroll, which a partner is created with and can be given later. */
function withInvitationOptions(command: Command): Command {
  return command
    .option(
      '--consent <required|none>',
      'whether members have to agree before they are enrolled',
      typed('--consent', consent),
    )
    .option(
      '--invitations <count>',
      'how many of its invitations go out in 24 hours',
      typed('--invitations', invitations),
    );
}

const partnerId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'must have 1 to 64 letters, digits, ".", "_" or "-", and begin with a letter or a digit',
  );
const name = text(MAX_NAME);
const budget = digits(1, MAX_BUDGET);
const invitations = digits(1, MAX_INVITATIONS);
const consent = z.enum(['required', 'none'], 'must be "required" or "none"');
const webUrl = z
  .url({ protocol: /^https?$/, error: 'must be an absolute http or https URL' })
  .transform((url) => new URL(url).href);

async function create(shell: Shell, partnerId: string, options: CreateOptions): Promise<void> {
  const { name, budget, magicLinkUrl, invitations } = options;
  const program = options.program === undefined ? undefined : readProgram(options.program);
  const partner: Partner = omitUndefined({
    partnerId,
    name,
    budget,
    magicLinkUrl,
    consent: storedConsent(options.consent),
    invitations,
    createdAt: new Date(),
  });
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
}

async function update(shell: Shell, partnerId: string, options: UpdateOptions): Promise<void> {
  if (Object.keys(options).length === 0)
    throw new CommandError('there is nothing to change; --help lists the options');
  const settings = shell.settings();
  const partner = await withStore('keys', settings, async (keys) => {
    const before = await requirePartner(keys, partnerId);
    await claimForOperator(keys);
    const { consent = before.consent, invitations = before.invitations } = options;
    const next = omitUndefined({ ...before, consent: storedConsent(consent), invitations });
    await putIntoMembers(settings, next);
    await keys.replacePartner(next);
    return next;
  });
  shell.print(partner);
}

/** Writes what the members subgraph needs to know about a partner. */
async function putIntoMembers(settings: Settings, partner: Partner): Promise<void> {
  const { partnerId, name, magicLinkUrl, consent, invitations } = partner;
  await withStore('members', settings, ({ partners }) =>
    partners.put(omitUndefined({ partnerId, name, magicLinkUrl, consent, invitations })),
  );
}

function storedConsent(consent: Consent | undefined): 'required' | undefined {
  return consent === 'required' ? consent : undefined;
}

async function list(shell: Shell): Promise<void> {
  const partners = await withStore('keys', shell.settings(), (keys) => keys.partners());
  if (partners.length === 0)
    shell.note('there are no partners yet: loyalty partners create ID --name NAME');
  else shell.printAll(partners);
}

function readProgram(file: string): Program {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`--program: ${oneLine(error)}`);
  }
  const json = parseStrictJson(text);
  const program = 'fault' in json ? json : parseProgram(json.value);
  if ('fault' in program) throw new CommandError(`--program: ${file}: ${program.fault}`);
  return program.value;
}
