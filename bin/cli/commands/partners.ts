// `loyalty partners`: creates and lists partners.
import { readFileSync } from 'node:fs';
import type { Partner } from '@partner-loyalty/gateway';
import { integer, omitUndefined, text } from '@partner-loyalty/runtime';
import { type Program, parseProgram } from '@partner-loyalty/standings';
import { Command } from 'commander';
import * as z from 'zod';
import { parseStrictJson } from '../import/strictjson.ts';
import { typed } from '../shell/argument.ts';
import { CommandError, oneLine, type Shell } from '../shell/shell.ts';
import { claimForOperator, withStore } from '../shell/stores.ts';

const MAX_NAME = 100;
const MAX_BUDGET = 1_000_000_000;

type CreateOptions = { name: string; program?: string; budget?: number; magicLinkUrl?: string };

export function partnersCommand(shell: Shell): Command {
  const group = new Command('partners').description('manage the partners of the platform');
  group
    .command('create')
    .description('create a partner')
    .argument(
      '<id>',
      'its ID: at most 64 letters, digits, ".", "_" and "-"',
      typed('the partner ID', partnerId),
    )
    .requiredOption('--name <name>', 'its name, as members read it', typed('--name', name))
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
  group
    .command('list')
    .description('list the partners')
    .action(() => list(shell));
  return group;
}

const partnerId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'must have 1 to 64 letters, digits, ".", "_" or "-", and begin with a letter or a digit',
  );
const name = text(MAX_NAME);
const budget = z
  .string()
  .transform((given) => (/^\d+$/.test(given) ? Number(given) : given))
  .pipe(integer(1, MAX_BUDGET));
const webUrl = z
  .url({ protocol: /^https?$/, error: 'must be an absolute http or https URL' })
  .transform((url) => new URL(url).href);

async function create(shell: Shell, partnerId: string, options: CreateOptions): Promise<void> {
  const { name, budget, magicLinkUrl } = options;
  const program = options.program === undefined ? undefined : readProgram(options.program);
  const createdAt = new Date();
  const partner: Partner = omitUndefined({ partnerId, name, budget, magicLinkUrl, createdAt });
  const settings = shell.settings();
  await withStore('keys', settings, async (keys) => {
    if ((await keys.partner(partnerId)) !== undefined)
      throw new CommandError(`partner ${partnerId} already exists`);
    await claimForOperator(keys);
    await withStore('members', settings, (members) =>
      members.partners.put(omitUndefined({ partnerId, name, magicLinkUrl })),
    );
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
