// `loyalty partners`: adds and lists partners.
import { readFileSync } from 'node:fs';
import { openKeyStore, type Partner } from '@partner-loyalty/gateway';
import { openMembersStore } from '@partner-loyalty/members';
import { checkProgram, openStandingsStore, type Program } from '@partner-loyalty/standings';
import { Command } from 'commander';
import { parseLine } from '../json.ts';
import { CommandError, oneLine, type Shell } from '../shell.ts';
import { claimForOperator, lend } from '../stores.ts';

const PARTNER_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const MAX_BUDGET = 1_000_000_000;

type CreateOptions = { name: string; program?: string; budget?: string; magicLinkUrl?: string };

export function partnersCommand(shell: Shell): Command {
  const group = new Command('partners').description('partners of the platform');
  group
    .command('create')
    .description('add a partner')
    .argument('<id>', 'its id: letters, digits, ".", "_" and "-", at most 64')
    .requiredOption('--name <name>', 'its name, as members read it')
    .option('--program <file>', 'its tiers and membership year, as JSON')
    .option('--budget <requests>', 'requests per window of each of its keys')
    .option('--magic-link-url <url>', 'its own page that magic links lead to')
    .action((id: string, options: CreateOptions) => create(shell, id, options));
  group
    .command('list')
    .description('list the partners')
    .action(() => list(shell));
  return group;
}

async function create(shell: Shell, partnerId: string, options: CreateOptions): Promise<void> {
  if (!PARTNER_ID.test(partnerId)) {
    throw new CommandError(
      'a partner id has 1 to 64 letters, digits, ".", "_" or "-", the first a letter or a digit',
    );
  }
  const partner: Partner = {
    partnerId,
    name: checkName(options.name),
    budget: options.budget === undefined ? undefined : checkBudget(options.budget),
    magicLinkUrl: options.magicLinkUrl === undefined ? undefined : checkPage(options.magicLinkUrl),
    createdAt: new Date(),
  };
  const program = options.program === undefined ? undefined : readProgram(options.program);
  const settings = shell.settings();
  await lend(openKeyStore(settings), async (keys) => {
    if ((await keys.partner(partnerId)) !== undefined)
      throw new CommandError(`partner ${partnerId} exists already`);
    await claimForOperator(keys);
    // The partner last: interrupted in between, the command can be repeated as it was.
    const { name, magicLinkUrl } = partner;
    await lend(openMembersStore(settings), (members) =>
      members.partners.put({ partnerId, name, magicLinkUrl }),
    );
    if (program !== undefined)
      await lend(openStandingsStore(settings), (standings) =>
        standings.putProgram(partnerId, program),
      );
    if (!(await keys.createPartner(partner)))
      throw new CommandError(`partner ${partnerId} exists already`);
  });
  shell.print(partner);
}

async function list(shell: Shell): Promise<void> {
  const partners = await lend(openKeyStore(shell.settings()), (keys) => keys.partners());
  if (partners.length === 0)
    shell.note('there are no partners yet: loyalty partners create ID --name NAME');
  else shell.printAll(partners);
}

function checkName(given: string): string {
  const name = given.trim();
  if (name === '' || name.length > 100 || /[\p{Cc}\p{Surrogate}]/u.test(name)) {
    throw new CommandError('--name takes 1 to 100 characters, no control characters');
  }
  return name;
}

function checkBudget(given: string): number {
  const budget = /^\d{1,10}$/.test(given) ? Number(given) : 0;
  if (budget < 1 || budget > MAX_BUDGET)
    throw new CommandError(`--budget takes a whole number from 1 to ${MAX_BUDGET}`);
  return budget;
}

function checkPage(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new CommandError('--magic-link-url takes an absolute http or https URL');
  }
  return url.href;
}

function readProgram(file: string): Program {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`--program: ${oneLine(error)}`);
  }
  const parsed = parseLine(text);
  if ('fault' in parsed) throw new CommandError(`--program: ${file} is refused: ${parsed.fault}`);
  try {
    return checkProgram(parsed.value);
  } catch (error) {
    throw new CommandError(`--program: ${oneLine(error)}`);
  }
}
